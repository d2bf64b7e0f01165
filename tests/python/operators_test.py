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
from tma_jit._torch_calls import functions


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


def same_gradients(made, expected, inputs, tolerance):
    """Whether two functions of the same tensors have the same gradients."""
    grads = []
    for function in (made, expected):
        own = [x.detach().clone().requires_grad_() for x in inputs]
        result = function(*own)
        torch.manual_seed(5)
        result.backward(torch.randn(result.shape).to(result.dtype))
        grads.append([x.grad for x in own])
    return all(close(x, y, tolerance) for x, y in zip(*grads))


def test_gradients():
    x, w, b = torch.randn(2, 3, 33), torch.randn(33), torch.randn(33)
    check(same_gradients(operators.softmax, lambda x: torch.softmax(x, -1), [x], 1e-5), "softmax")
    check(same_gradients(operators.rms_norm, lambda x, w: functional.rms_norm(x, (33,), w, 1e-5), [x, w], 1e-4), "rms_norm")
    check(same_gradients(operators.layer_norm, lambda x, w, b: functional.layer_norm(x, (33,), w, b), [x, w, b], 1e-4), "layer_norm")
    factors = [torch.randn(rows, 64).bfloat16() for rows in (48, 72)]
    check(same_gradients(operators.gemm, lambda a, b: a @ b.T, factors, 0.25), "gemm")
    a, b = (x.requires_grad_() for x in factors)
    check("without an epilogue" in str(failure_of(lambda: operators.gemm(a, b, epilogue="x * 2"), RuntimeError)), "an epilogue")


def attended(q, k, v, seen, bias, sink=None):
    """Attention of f32 by PyTorch's own functions."""
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    scores = (q @ k.mT * q.shape[-1] ** -0.5 + bias).masked_fill(~seen, float("-inf"))
    if sink is not None:
        scores = torch.cat((scores, sink[None, :, None, None].expand(*scores.shape[:-1], 1)), -1)
        return (scores.softmax(-1)[..., :-1] @ v)
    return scores.softmax(-1) @ v


def test_attention_by_texts():
    """Masks, scores, sinks and their gradients, by operators that were given numbers and tensors."""
    tokens, heads = 70, 4
    position = torch.arange(tokens)
    distance = position[:, None] - position
    slope, document = torch.rand(heads), position // 20
    allowed = (torch.rand(tokens, tokens) < 0.5) | (distance == 0)
    causal, sink, flat = distance >= 0, torch.randn(heads), torch.zeros(())
    cases = {
        "window": ({"mask": "k <= q && q - k < window", "window": 30}, causal & (distance < 30), flat),
        "tensors": ({"mask": "document[q] == document[k]", "document": document.int()}, document[:, None] == document, flat),
        "any mask": ({"mask": "allowed[q, k] != 0", "allowed": allowed}, allowed, flat),
        "heads": ({"causal": True, "score": "s - slope[head % per] * (q - k)", "slope": slope}, causal, -slope[:, None, None] * distance),
        "sinks": ({"causal": True, "sink": sink}, causal, flat)}
    for name, (texts, seen, bias) in cases.items():
        inputs = [torch.randn(2, of, tokens, 64).bfloat16().requires_grad_() for of in (heads, 2, 2)]
        exact = [x.detach().float().requires_grad_() for x in inputs]
        sinks = [texts["sink"].clone().requires_grad_() for _ in range(2)] if "sink" in texts else [None, None]
        made = operators.attention(*inputs, **texts | ({"sink": sinks[0]} if "sink" in texts else {}))
        expected = attended(*exact, seen, bias, sinks[1])
        check(close(made, expected.bfloat16(), 3e-2), name)
        gradient = torch.randn(made.shape)
        made.backward(gradient.bfloat16()), expected.backward(gradient)
        for x, y in zip(inputs, exact):
            check(close(x.grad, y.grad.bfloat16(), 0.1), f"gradients, {name}: {(x.grad - y.grad).abs().max()}")
        if sinks[0] is not None:
            check(close(*(x.grad for x in sinks), 0.2), f"gradient of the sink: {sinks[0].grad} {sinks[1].grad}")
    with torch.no_grad():
        check(not operators.attention(*inputs).requires_grad, "no gradients are asked for")


def same_attention(made, expected, inputs, name):
    """Checks that two functions of q, k and v have the same results, bit for bit, and gradients; returns the first's result."""
    own = [[x.detach().requires_grad_() for x in inputs] for _ in range(2)]
    results = [function(*of) for function, of in zip((made, expected), own)]
    check(torch.equal(*results), f"{name}: {(results[0].float() - results[1].float()).abs().max()}")
    gradient = torch.randn(results[0].shape).bfloat16()
    for result in results:
        result.backward(gradient)
    for x, y in zip(*own):
        check(close(x.grad, y.grad, 0.02), f"gradients, {name}: {(x.grad.float() - y.grad.float()).abs().max()}")
    return results[0]


def by_heads(*tensors, **read):
    """Attention of copies whose heads are not within tokens, and whose rows begin at multiples of 16 bytes."""
    return operators.attention(*(x.contiguous() for x in tensors), **read)


def test_attention_by_tokens():
    """Heads within tokens give what copies by heads do, and results lie by tokens too."""
    slope = torch.rand(4)
    texts = {"mask": "q - k < 30", "score": "s - slope[head % per] * (q - k)", "slope": slope, "causal": True}
    for sequences in (1, 2):
        both = torch.randn(sequences, 70, 8, 64).bfloat16()
        inputs = [both[:, :, part].transpose(1, 2) for part in (slice(0, 4), slice(4, 6), slice(6, 8))]
        for name, read in (("plain", {}), ("texts", texts)):
            made = same_attention(lambda *x: operators.attention(*x, **read), lambda *x: by_heads(*x, **read), inputs,
                                  f"{sequences}, {name}")
            check(made.transpose(1, 2).is_contiguous(), f"with gradients: {made.stride()}")
            leaves = [x.detach().requires_grad_() for x in inputs]
            gradients = torch.autograd.grad(operators.attention(*leaves, **read).sum(), leaves)
            check(all(x.transpose(1, 2).is_contiguous() for x in gradients), f"gradients: {[x.stride() for x in gradients]}")
            with torch.no_grad():
                where = operators.attention(*inputs, **read)
            check(where.transpose(1, 2).is_contiguous() and torch.equal(where, made), f"{sequences}, {name}: {where.stride()}")
        q, k, v = (x.detach().requires_grad_() for x in inputs)
        compiled = torch.compile(lambda *x: operators.attention(*x, causal=True), backend="aot_eager", fullgraph=True)
        check(torch.equal(compiled(q, k, v), operators.attention(q, k, v, causal=True)), "a compiled graph")
        with torch.no_grad():
            check(torch.equal(compiled(q, k, v), operators.attention(q, k, v, causal=True)), "a compiled graph without gradients")
    apart = torch.randn(2, 4, 70, 65).bfloat16()[..., 1:]
    same_attention(operators.attention, by_heads, [apart] * 3, "odd rows")
    token = torch.randn(2, 4, 1, 64).bfloat16()
    with torch.no_grad():
        check(torch.equal(operators.attention(token, *inputs[1:]), by_heads(token, *inputs[1:])), "one token of many keys")


def test_attention_ragged():
    """Sequences of different lengths, one without tokens, with what each has alone."""
    begins, keys = torch.tensor([0, 40, 40, 110], dtype=torch.int32), torch.tensor([0, 50, 70, 160], dtype=torch.int32)
    sink, slope = torch.randn(4), torch.rand(4)
    texts = {"mask": "k - q < 40", "score": "s - slope[head % per] * (q - k)", "slope": slope, "sink": sink}
    tensors = [torch.randn(tokens, heads, 64).bfloat16() for tokens, heads in ((110, 4), (160, 2), (160, 2))]

    def alone(q, k, v, **read):
        each = [operators.attention(*(x.transpose(0, 1)[None] for x in (q[b:e], k[i:j], v[i:j])), **read)[0].transpose(0, 1)
                for b, e, i, j in zip(begins, begins[1:], keys, keys[1:])]
        return torch.cat(each)

    for name, read in (("plain", {}), ("texts", texts)):
        for longest in (None, 70):
            same_attention(lambda *x: operators.attention_ragged(*x, begins, keys, longest, **read), lambda *x: alone(*x, **read), tensors,
                           f"{name}, at most {longest}")
    same = [x[:110].requires_grad_() for x in tensors]
    made = operators.attention_ragged(*same, begins, causal=True)
    compiled = torch.compile(lambda *x: operators.attention_ragged(*x, begins, causal=True), backend="aot_eager", fullgraph=True)
    check(torch.equal(made, compiled(*same)), "a compiled graph")
    given = ([begins, begins], 110, [], [], [], [], True, 0.125)
    torch.library.opcheck(torch.ops.tma_jit.attention.default, (*(x.detach() for x in same), None, True, *given))
    own = torch.randn(4, requires_grad=True)
    operators.attention_ragged(*same, begins, sink=own, causal=True).sum().backward()
    other = own.detach().clone().requires_grad_()
    sum(operators.attention(*(x[b:e].transpose(0, 1)[None] for x in same), sink=other, causal=True).float().sum()
        for b, e in ((0, 40), (40, 110))).backward()
    check(close(own.grad, other.grad, 1e-2), f"gradient of the sink: {own.grad} {other.grad}")
    none = operators.attention_ragged(*(x[:0].detach() for x in same), begins * 0)
    check(none.shape == (0, 4, 64), "no tokens")


def test_attention_refuses():
    q = torch.randn(1, 2, 8, 64).bfloat16()
    slope = torch.rand(2, requires_grad=True)
    check("detach slope" in str(failure_of(lambda: operators.attention(q, q, q, score="s - slope[head]", slope=slope), ValueError)),
          "a tensor that a text reads has no gradient")
    check("hook mask:1:5" in str(failure_of(lambda: operators.attention(q, q, q, mask="k < n"), tma_jit.Error)), "an unknown name")


def test_attention_compiles():
    q, k, v = (torch.randn(1, 2, 40, 64).bfloat16().requires_grad_() for _ in range(3))

    def loss(q, k, v, window):
        return operators.attention(q, k, v, mask="k <= q && q - k < window", window=window).float().square().sum()

    plain = torch.autograd.grad(loss(q, k, v, 16), (q, k, v))
    compiled = torch.autograd.grad(torch.compile(loss, backend="aot_eager", fullgraph=True)(q, k, v, 16), (q, k, v))
    check(all(torch.equal(x, y) for x, y in zip(plain, compiled)), "gradients of a compiled graph")
    given = ([], 0, [], [16], ["window"], ["mask=k <= q && q - k < window"], False, 0.125)
    flat = [x[0].detach() for x in (q, k, v)]
    torch.library.opcheck(torch.ops.tma_jit.attention.default, (*flat, None, True, *given))


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
    made = len(functions)
    for value in (0.5, -3.0, 0.25):
        check(close(scaled(x, value), value * x), f"alpha = {value}")
    for value in (0.5, 2.0, 0.25):
        check(close(operators.rms_norm(w, x, value), functional.rms_norm(w, (33,), x, value)), f"eps = {value}")
    check(len(functions) == made, "one function serves all values")


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
