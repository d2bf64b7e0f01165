#!/usr/bin/env python3
"""The operators of tma_jit.torch on the CPU's tensors, which an emulated device serves. Needs PyTorch and NVRTC."""
import tma_jit
from checks import check, failure_of, needs_nvrtc, run_all, skip

try:
    import torch
except ImportError:
    skip("no PyTorch")
from torch.nn import functional

import tma_jit.torch as operators


def close(a, b, tolerance=1e-5):
    return a.dtype == b.dtype and a.shape == b.shape and torch.allclose(a.double(), b.double(), atol=tolerance)


def test_no_engine():
    check("tma_jit.torch.use" in str(failure_of(lambda: operators.softmax(torch.randn(2, 2)), ValueError)), "what to do")
    operators.use("cpu", tma_jit.Engine("emulator:sm_90a"))


def test_rows():
    x, w, b = torch.randn(2, 3, 33), torch.randn(33), torch.randn(33)
    check(close(operators.softmax(x), torch.softmax(x, -1)), "softmax")
    check(close(operators.rms_norm(x, w), functional.rms_norm(x, (33,), w, 1e-5)), "rms_norm")
    check(close(operators.layer_norm(x, w, b, 1e-3), functional.layer_norm(x, (33,), w, b, 1e-3)), "layer_norm")


def test_gemm():
    a, b = (torch.randint(-3, 4, (rows, 64)).bfloat16() for rows in (64, 72))
    bias = torch.randint(-3, 4, (72,)).float()
    exact = a.float() @ b.float().T
    check(close(operators.gemm(a, b, dtype=torch.float32), exact), "gemm")
    check(close(operators.gemm(a, b, epilogue="fmaxf(x + bias[column], 0)", bias=bias, dtype=torch.float32),
                torch.relu(exact + bias)), "gemm with an epilogue")


def test_attention():
    q, k, v = (torch.randn(1, heads, 64, 64).bfloat16() for heads in (4, 2, 2))
    for causal in (False, True):
        expected = functional.scaled_dot_product_attention(
            q.float(), k.float().repeat_interleave(2, 1), v.float().repeat_interleave(2, 1), is_causal=causal)
        check(close(operators.attention(q, k, v, causal=causal), expected.bfloat16(), 2e-2), f"attention, causal {causal}")


def test_any_kernel():
    swish = operators.op("tests::swish", "map", hooks={"apply": "a / (1 + __expf(-a))"})
    for x in (torch.randn(100), torch.randn(3, 40)[:, :33]):
        check(close(swish(x), functional.silu(x)), f"{x.dim()} dimensions")
    torch.library.opcheck(swish.default, (torch.randn(8),))
    scaled = operators.op("tests::scaled", "map", hooks={"apply": "alpha * a + w[i]"}, operands=["w : f32[N]", "alpha : f32"])
    x, w = torch.randn(10), torch.randn(10)
    check(close(scaled(x, w, 0.5), 0.5 * x + w), "operands")
    failure_of(lambda: swish(torch.randn(2, 2, 2)), ValueError)
    failure_of(lambda: operators.op("tests::none", "no_such_kernel"), ValueError)


def test_scalars():
    """A function serves every value of a scalar."""
    scaled = operators.op("tests::times", "map", hooks={"apply": "alpha * a"}, operands=["alpha : f32"])
    x, w = torch.randn(33), torch.randn(4, 33)
    scaled(x, 1.0), operators.rms_norm(w, x, 1.0)
    made = len(operators._functions)
    for value in (0.5, -3.0, 0.25):
        check(close(scaled(x, value), value * x), f"alpha = {value}")
    for value in (0.5, 2.0, 0.25):
        check(close(operators.rms_norm(w, x, value), functional.rms_norm(w, (33,), x, value)), f"eps = {value}")
    check(len(operators._functions) == made, "one function serves all values")


def test_compile():
    def block(x, w, b):
        return operators.softmax(operators.layer_norm(x, w, b)) * 2

    w, b = torch.randn(33), torch.randn(33)
    compiled = torch.compile(block, backend="eager", fullgraph=True, dynamic=True)
    for rows in (5, 3):
        x = torch.randn(rows, 33)
        check(close(compiled(x, w, b), block(x, w, b)), f"{rows} rows")
    graph = torch.fx.experimental.proxy_tensor.make_fx(block, tracing_mode="fake")(torch.randn(5, 33), w, b)
    check("tma_jit.softmax.default" in graph.code, graph.code)


def test_fake():
    with torch._subclasses.fake_tensor.FakeTensorMode():
        a, b = (torch.empty(rows, 64, dtype=torch.float8_e4m3fn, device="cuda") for rows in (128, 256))
        d = operators.gemm(a, b)
        check((d.shape, d.dtype, d.device.type) == ((128, 256), torch.bfloat16, "cuda"), d)


def test_opcheck():
    x = torch.randn(3, 8)
    torch.library.opcheck(torch.ops.tma_jit.softmax.default, (x,))
    torch.library.opcheck(torch.ops.tma_jit.rms_norm.default, (x, x[0]))


if __name__ == "__main__":
    torch.manual_seed(1)
    with needs_nvrtc():
        run_all(globals())
