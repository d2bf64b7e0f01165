"""cuDNN's attention of e4m3, which PyTorch has no call for, by cuDNN's own frontend (`pip install nvidia-cudnn-frontend`)."""
import math

import cudnn
import torch

FLOAT, E4M3 = cudnn.data_type.FLOAT, cudnn.data_type.FP8_E4M3
ONE = [1, 1, 1, 1]
HANDLE = cudnn.create_handle()


def attention(q, k, v, causal):
    """A call that computes O in e4m3 from tensors [batch, heads, length, elements] with scales of 1, and returns O."""
    graph = cudnn.pygraph(io_data_type=E4M3, intermediate_data_type=FLOAT, compute_data_type=FLOAT, handle=HANDLE)
    inputs = [graph.tensor(dim=list(tensor.shape), stride=list(tensor.stride()), data_type=E4M3) for tensor in (q, k, v)]
    names = ("descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o")
    scales = {name: graph.tensor(dim=ONE, stride=ONE, data_type=FLOAT) for name in names}
    last = {"diagonal_alignment": cudnn.diagonal_alignment.TOP_LEFT, "right_bound": 0} if causal else {}
    output, _, *greatest = graph.sdpa_fp8(q=inputs[0], k=inputs[1], v=inputs[2], attn_scale=1 / math.sqrt(q.shape[-1]),
                                          generate_stats=False, **scales, **last)
    o = torch.empty_like(q)
    output.set_output(True).set_dim(list(o.shape)).set_stride(list(o.stride())).set_data_type(E4M3)
    for tensor in greatest:
        tensor.set_output(True).set_dim(ONE).set_stride(ONE).set_data_type(FLOAT)
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A])
    graph.check_support()
    graph.build_plans()
    workspace = torch.empty(max(1, graph.get_workspace_size()), dtype=torch.uint8, device="cuda")
    one = torch.ones(ONE, device="cuda")
    memory = {output: o, **dict(zip(inputs, (q, k, v))), **{scale: one for scale in scales.values()},
              **{tensor: torch.empty(ONE, device="cuda") for tensor in greatest}}

    def call():
        cudnn.set_stream(handle=HANDLE, stream=torch.cuda.current_stream().cuda_stream)
        graph.execute(memory, workspace, handle=HANDLE)
        return o
    return call
