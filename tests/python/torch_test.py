#!/usr/bin/env python3
"""The package on PyTorch's tensors: values, streams, graphs, changing shapes, operators, threads, devices, errors.

Ends with 77 where there is no PyTorch or no device.
"""
import threading

import tma_jit
from checks import check, failure_of, run_all, skip
from dlpack_array import DlpackArray

try:
    import torch
except ImportError:
    skip("no PyTorch")
if not torch.cuda.is_available():
    skip("no device")

ENGINE = tma_jit.Engine(use_cache=False)


def matrices(m, n, k, device="cuda"):
    """Small integers: every product and sum is exact."""
    a, b = (torch.randint(-4, 5, shape, device=device).to(torch.bfloat16) for shape in ((m, k), (n, k)))
    return a, b, torch.full((m, n), float("nan"), dtype=torch.bfloat16, device=device)


def expected(a, b):
    return (a.double() @ b.double().T).to(torch.bfloat16)


def test_gemm():
    a, b, d = matrices(512, 384, 256)
    launch = ENGINE.prepare("gemm", A=a, B=b, D=d)
    torch.cuda.synchronize()
    launch.launch()
    torch.cuda.synchronize()
    check(torch.equal(d, expected(a, b)), "gemm")
    other = torch.full_like(d, float("nan"))
    launch.rebind(D=other)
    launch.launch()
    torch.cuda.synchronize()
    check(torch.equal(other, d), "gemm into a rebound tensor")


def test_attention():
    """Attention and its gradients, with a window, beside PyTorch's with a mask of f32."""
    import tma_jit.torch
    tma_jit.torch.use("cuda", ENGINE)
    position = torch.arange(500, device="cuda")
    distance = position[:, None] - position
    inputs = [torch.randn(2, heads, 500, 128, device="cuda").bfloat16().requires_grad_() for heads in (8, 2, 2)]
    exact = [x.detach().float().requires_grad_() for x in inputs]
    made = tma_jit.torch.attention(*inputs, mask="k <= q && q - k < window", window=100)
    wanted = torch.nn.functional.scaled_dot_product_attention(
        *exact, attn_mask=(distance >= 0) & (distance < 100), enable_gqa=True)
    gradient = torch.randn_like(made)
    made.backward(gradient), wanted.backward(gradient.float())
    pairs = [(made, wanted), *((x.grad, y.grad) for x, y in zip(inputs, exact))]
    check(all((x.float() - y).norm() < 0.01 * y.norm() for x, y in pairs), "attention and its gradients")


def test_attention_by_tokens():
    """Heads within tokens, and sequences of different lengths: the results of attention of copies by heads and of each alone."""
    import tma_jit.torch
    tma_jit.torch.use("cuda", ENGINE)
    both = torch.randn(2, 500, 12, 128, device="cuda").bfloat16()
    inputs = [x.transpose(1, 2).detach().requires_grad_() for x in (both[:, :, :8], both[:, :, 8:10], both[:, :, 10:])]
    copies = [x.detach().contiguous().requires_grad_() for x in inputs]
    packed = [x.detach().transpose(1, 2).flatten(0, 1).requires_grad_() for x in inputs]
    begins = torch.tensor([0, 500, 1000], device="cuda", dtype=torch.int32)
    made, wanted = (tma_jit.torch.attention(*x, causal=True) for x in (inputs, copies))
    ragged = tma_jit.torch.attention_ragged(*packed, begins, causal=True)
    ragged = ragged.unflatten(0, (2, 500)).transpose(1, 2)
    check(torch.equal(made, wanted) and torch.equal(ragged, wanted), "attention by tokens")
    gradient = torch.randn_like(wanted)
    made.backward(gradient), wanted.backward(gradient), ragged.backward(gradient)
    for x, y, z in zip(inputs, copies, packed):
        check((x.grad.float() - y.grad.float()).norm() < 0.01 * y.grad.float().norm(), "gradients by tokens")
        check(torch.equal(z.grad.unflatten(0, (2, 500)).transpose(1, 2), x.grad), "gradients of sequences one after the other")


class Interface:
    """An array of a library that has nothing but CUDA's array interface."""

    def __init__(self, tensor):
        self.tensor = tensor

    @property
    def __cuda_array_interface__(self):
        return self.tensor.__cuda_array_interface__


def test_protocols():
    a = torch.randn(1000, device="cuda")
    for wrap in (Interface, DlpackArray):
        y = torch.zeros_like(a)
        ENGINE.prepare("map", A=wrap(a), Y=wrap(y), hooks={"apply": "a * 2"}).launch(torch.cuda.current_stream())
        torch.cuda.synchronize()
        check(torch.equal(y, a * 2), wrap.__name__)


def test_fp8():
    a, b = (torch.randint(-2, 3, (256, 256), device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    d = torch.zeros(256, 256, dtype=torch.bfloat16, device="cuda")
    ENGINE.prepare("gemm", A=a, B=tma_jit.Tensor(b.view(torch.uint8), "e4m3"), D=d).launch(torch.cuda.current_stream())
    torch.cuda.synchronize()
    check(torch.equal(d, expected(a.float(), b.float())), "gemm of e4m3")


def test_stream():
    """Work on PyTorch's own stream is ordered with the tensors' other work; nothing synchronises."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a, b, d = matrices(256, 256, 256)
        ENGINE.prepare("gemm", A=a, B=b, D=d).launch(stream)
        product = d * 2
    stream.synchronize()
    check(torch.equal(product, expected(a, b) * 2), "gemm on a stream of PyTorch's")


def test_strided():
    """A column slice: rows further apart than they are long, as a view without a copy."""
    whole = torch.randn(300, 512, device="cuda")
    source = whole[:, 64:320]
    target = torch.full((300, 256), float("nan"), device="cuda")
    check(not source.is_contiguous(), "the slice")
    ENGINE.prepare("copy", S=source, D=target).launch(torch.cuda.current_stream())
    torch.cuda.synchronize()
    check(torch.equal(source, target), "a copy of a slice")


def test_function():
    add = ENGINE.function("map", params={"INPUTS": 2}, hooks={"apply": "a * 2.0f + b"})
    for count in (1000, 77777, 1000, 4096):
        a, b = (torch.randn(count, device="cuda") for _ in range(2))
        y = torch.full((count,), float("nan"), device="cuda")
        add(a, b, None, None, y, stream=torch.cuda.current_stream())
        torch.cuda.synchronize()
        check(torch.allclose(y, a * 2 + b), f"map of {count}")
    error = failure_of(lambda: add(a.cpu(), b, None, None, y))
    check("host's memory" in str(error), str(error))


def test_graph():
    a, b, d = matrices(256, 256, 128)
    launch = ENGINE.prepare("gemm", A=a, B=b, D=d)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch.launch(torch.cuda.current_stream())
    for _ in range(2):
        a.copy_(torch.randint(-4, 5, a.shape, device="cuda"))
        d.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        check(torch.equal(d, expected(a, b)), "a replayed graph")


def test_operators():
    import tma_jit.torch as operators
    a, b, _ = matrices(256, 128, 64)
    bias = torch.randint(-3, 4, (128,), device="cuda").float()

    def layer(a, b, bias):
        return operators.gemm(a, b, epilogue="fmaxf(x + bias[column], 0)", bias=bias, dtype=torch.float32)

    exact = torch.relu(a.float() @ b.float().T + bias)
    check(torch.equal(layer(a, b, bias), exact), "gemm with an epilogue")
    check(torch.equal(torch.compile(layer, fullgraph=True)(a, b, bias), exact), "gemm in torch.compile")
    x = torch.randn(4, 8, 1000, device="cuda")
    check(torch.allclose(operators.softmax(x), torch.softmax(x, -1), atol=1e-6), "softmax")


def test_threads():
    faults = []

    def work(seed):
        try:
            torch.manual_seed(seed)
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                for size in (128, 256, 384):
                    a, b, d = matrices(size, 256, 128)
                    ENGINE.prepare("gemm", A=a, B=b, D=d).launch(stream)
                    stream.synchronize()
                    check(torch.equal(d, expected(a, b)), f"gemm of {size} in a thread")
        except Exception as fault:  # pylint: disable=broad-except
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not faults, faults)


def test_errors():
    a, b, d = matrices(64, 64, 64)
    error = failure_of(lambda: ENGINE.prepare("gemm", A=a, B=b.int(), D=d))
    check(error.code == "invalid_argument" and "tensor B" in str(error), str(error))
    failure_of(lambda: ENGINE.prepare("gemm", A=a, B=b, D=d[:32]), tma_jit.errors.InvalidArgument)
    failure_of(lambda: ENGINE.prepare("gemm", A=a.cpu(), B=b, D=d), tma_jit.errors.InvalidArgument)
    launch = ENGINE.prepare("gemm", A=a, B=b, D=d)
    error = failure_of(lambda: launch.rebind(D=d.data_ptr() + 2))
    check(error.code == "invalid_argument" and "multiple of" in error.message, str(error))


def test_devices():
    """An engine a device; PyTorch's current device stays what it was."""
    for index in range(torch.cuda.device_count()):
        engine = tma_jit.Engine(torch.device("cuda", index), use_cache=False)
        a, b, d = matrices(256, 128, 64, f"cuda:{index}")
        launch = engine.prepare("gemm", A=a, B=b, D=d)
        torch.cuda.synchronize(index)
        launch.launch()
        torch.cuda.synchronize(index)
        check(torch.cuda.current_device() == 0, "the current device")
        check(torch.equal(d, expected(a, b)), f"gemm on device {index}")


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.cuda.init()
    print(f"on {ENGINE.device['name']}, PyTorch {torch.__version__}")
    run_all(globals())
