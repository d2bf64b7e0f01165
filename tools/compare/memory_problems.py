"""The problems of memory.py: what is asked of tma-jit, its tensors, and PyTorch's way to the same result."""
from memory_moves import (concat, copy, copy_rows, fill, gather, numbers, pad, pad_dimensions, permute, scatter, scatter_add, split,
                          transpose)
from memory_reductions import argmax, reduce, reduce_dimensions, sample, scan, top_k
from problem import TORCH, Problem


def rows_of(kernel, m, n, dtype, inputs, outputs, peer, params="", **more):
    return f"{kernel} {m} x {n} {dtype}", Problem(
        f"{kernel} M={m} N={n} T={dtype}{params}" + ("" if kernel == "cross_entropy" else f" O={dtype}"), inputs, outputs, peer, **more)


def softmax(m, n, dtype):
    return rows_of("softmax", m, n, dtype, {"S": (dtype, (m, n))}, {"D": (dtype, (m, n))},
                   lambda torch, t: torch.softmax(t["S"], 1))


def log_softmax(m, n, dtype):
    return rows_of("log_softmax", m, n, dtype, {"S": (dtype, (m, n))}, {"D": (dtype, (m, n))},
                   lambda torch, t: torch.log_softmax(t["S"], 1))


def rms_norm(m, n, dtype):
    return rows_of("rms_norm", m, n, dtype, {"X": (dtype, (m, n)), "W": (dtype, (n,))}, {"Y": (dtype, (m, n))},
                   lambda torch, t: torch.nn.functional.rms_norm(t["X"], (n,), t["W"], 1e-5), scalars={"eps": 1e-5})


def layer_norm(m, n, dtype):
    return rows_of("layer_norm", m, n, dtype, {"X": (dtype, (m, n)), "W": (dtype, (n,)), "B": (dtype, (n,))},
                   {"Y": (dtype, (m, n))},
                   lambda torch, t: torch.nn.functional.layer_norm(t["X"], (n,), t["W"], t["B"], 1e-5),
                   params=" AFFINE=2", scalars={"eps": 1e-5})


def group_norm(n, c, s, g, dtype):
    return f"group_norm {n} x {c} x {s} in {g} groups {dtype}", Problem(
        f"group_norm N={n} C={c} S={s} G={g} T={dtype} O={dtype} --pitch X={s} --pitch Y={s}",  # no space between channels
        {"X": (dtype, (n, c, s)), "W": (dtype, (c,)), "B": (dtype, (c,))}, {"Y": (dtype, (n, c, s))},
        lambda torch, t: torch.nn.functional.group_norm(t["X"], g, t["W"], t["B"], 1e-5), scalars={"eps": 1e-5})


def group_norm_quantize(n, c, s, g, dtype, per):
    given = {"GIVEN": lambda torch: torch.full((1,), 0.01, device="cuda")} if per == "tensor" else {}

    def peer(torch, t):
        y = torch.nn.functional.group_norm(t["X"], g, t["W"], t["B"], 1e-5)
        if per == "tensor":
            return (y.float() / t["GIVEN"]).clamp(-448, 448).to(torch.float8_e4m3fn)
        q, scales = scaled(torch, y.view(n * g, -1), c // g * s)
        return q.view(n, c, s), scales.view(n, g)
    outputs = {"Q": ("e4m3", (n, c, s))} | ({} if per == "tensor" else {"SCALE": ("f32", (n, g))})
    return f"group_norm_quantize {n} x {c} x {s} in {g} groups {dtype}, a scale per {per}", Problem(
        f"group_norm_quantize N={n} C={c} S={s} G={g} T={dtype} SCALES={int(per != 'tensor')} --pitch X={s} --pitch Q={s}",
        {"X": (dtype, (n, c, s)), "W": (dtype, (c,)), "B": (dtype, (c,))} | given, outputs, peer, scalars={"eps": 1e-5}, tolerance=2e-2)


def qk_norm_rope(m, h, d, dtype):
    def angles(torch):
        frequencies = 1e4 ** (-torch.arange(0, d, 2, device="cuda", dtype=torch.float64) / d)
        return torch.arange(4096, device="cuda", dtype=torch.float64)[:, None] * frequencies

    def peer(torch, t):  # pairs are the halves of a head
        y = torch.nn.functional.rms_norm(t["X"], (d,), t["W"], 1e-6).float()
        cosine, sine = (t[name][t["P"]].unsqueeze(1) for name in ("COS", "SIN"))
        first, second = y.chunk(2, 2)
        return torch.cat((first * cosine - second * sine, second * cosine + first * sine), 2).to(t["X"].dtype)
    return f"qk_norm_rope {m} x {h} x {d} {dtype}", Problem(
        f"qk_norm_rope M={m} H={h} D={d} L=4096 T={dtype} O={dtype}",
        {"X": (dtype, (m, h, d)), "W": (dtype, (d,)), "COS": lambda torch: angles(torch).cos().float(),
         "SIN": lambda torch: angles(torch).sin().float(), "P": numbers(4096, m)}, {"Y": (dtype, (m, h, d))}, peer,
        scalars={"eps": 1e-6})


def cross_entropy(m, n, dtype):
    inputs = {"S": (dtype, (m, n)), "L": lambda torch: torch.randint(n, (m,), device="cuda", dtype=torch.int32)}
    return rows_of("cross_entropy", m, n, dtype, inputs, {"Y": ("f32", (m,))},
                   lambda torch, t: torch.nn.functional.cross_entropy(t["S"].float(), t["L"].long(), reduction="none"))


def map_mixed(m, n):
    """A gate of bf16 and f32 inputs, one of which is a vector."""
    return f"map {m} x {n} bf16, f32 and a vector", Problem(
        f"map N0=1 N1=1 N2=1 N3={m} N4={n} INPUTS=2 TA=bf16 TB=f32 O=bf16 --hook apply=a*b", {"A": ("bf16", (m, n)), "B": ("f32", (m, n))},
        {"Y": ("bf16", (m, n))}, lambda torch, t: torch.mul(t["A"], t["B"]).bfloat16())


def group_norm_backward(n, c, s, g, dtype):
    saved = {}  # the statistics that PyTorch's forward pass saves, by the address of X

    def peer(torch, t):
        x, w = t["X"], t["W"]
        if saved.get("of") != x.data_ptr():
            saved.update(of=x.data_ptr(), statistics=torch.ops.aten.native_group_norm(x, w, None, n, c, s, g, 1e-5)[1:])
        return torch.ops.aten.native_group_norm_backward(t["DY"], x, *saved["statistics"], w, n, c, s, g, [True, True, True])
    return f"group_norm_backward {n} x {c} x {s} in {g} groups {dtype}", Problem(
        f"group_norm_backward N={n} C={c} S={s} G={g} T={dtype} D={dtype} " + " ".join(f"--pitch {t}={s}" for t in ("X", "DY", "DX")),
        {"X": (dtype, (n, c, s)), "W": (dtype, (c,)), "DY": (dtype, (n, c, s))},
        {"DX": (dtype, (n, c, s)), "DW": (dtype, (c,)), "DB": (dtype, (c,))}, peer, scalars={"eps": 1e-5})


def softmax_backward(m, n, dtype):
    return rows_of("softmax_backward", m, n, dtype,
                   {"Y": lambda torch: torch.randn((m, n), device="cuda").softmax(1).to(getattr(torch, TORCH[dtype])),
                    "DY": (dtype, (m, n))}, {"DS": (dtype, (m, n))},
                   lambda torch, t: torch.ops.aten._softmax_backward_data(t["DY"], t["Y"], 1, t["Y"].dtype))


def log_softmax_backward(m, n, dtype):
    return rows_of("log_softmax_backward", m, n, dtype,
                   {"Y": lambda torch: torch.randn((m, n), device="cuda").log_softmax(1).to(getattr(torch, TORCH[dtype])),
                    "DY": (dtype, (m, n))}, {"DS": (dtype, (m, n))},
                   lambda torch, t: torch.ops.aten._log_softmax_backward_data(t["DY"], t["Y"], 1, t["Y"].dtype))


def cross_entropy_backward(m, n, dtype):
    inputs = {"S": (dtype, (m, n)), "L": lambda torch: torch.randint(n, (m,), device="cuda", dtype=torch.int32),
              "G": ("f32", (m,))}

    def peer(torch, t):  # PyTorch's has the logarithm of softmax from the forward pass; here it is computed, as ours is
        logs = torch.log_softmax(t["S"].float(), 1)
        gradient = torch.ops.aten.nll_loss_backward(t["G"], logs, t["L"].long(), None, 0, -100, torch.ones((), device="cuda"))
        return torch.ops.aten._log_softmax_backward_data(gradient, logs, 1, torch.float32).to(t["S"].dtype)
    return f"cross_entropy_backward {m} x {n} {dtype}", Problem(f"cross_entropy_backward M={m} N={n} T={dtype}", inputs,
                                                                {"DS": (dtype, (m, n))}, peer)


def rms_norm_backward(m, n, dtype):
    def peer(torch, t):
        x, w = t["X"].detach().requires_grad_(), t["W"].detach().requires_grad_()
        y = torch.nn.functional.rms_norm(x, (n,), w, 1e-5)  # timed with the gradients: a graph is used once
        return torch.autograd.grad(y, (x, w), t["DY"])
    return f"rms_norm_backward {m} x {n} {dtype}", Problem(
        f"rms_norm_backward M={m} N={n} T={dtype} G={dtype}", {"X": (dtype, (m, n)), "W": (dtype, (n,)), "DY": (dtype, (m, n))},
        {"DX": (dtype, (m, n)), "DW": (dtype, (n,))}, peer, scalars={"eps": 1e-5})


def layer_norm_backward(m, n, dtype):
    saved = {}  # the statistics that PyTorch's forward pass saves, by the address of X

    def peer(torch, t):
        x, w, b = t["X"], t["W"], torch.zeros_like(t["W"])
        if saved.get("of") != x.data_ptr():
            saved.update(of=x.data_ptr(), statistics=torch.ops.aten.native_layer_norm(x, (n,), w, b, 1e-5)[1:])
        return torch.ops.aten.native_layer_norm_backward(t["DY"], x, (n,), *saved["statistics"], w, b, [True, True, True])
    return f"layer_norm_backward {m} x {n} {dtype}", Problem(
        f"layer_norm_backward M={m} N={n} T={dtype} G={dtype} AFFINE=2",
        {"X": (dtype, (m, n)), "W": (dtype, (n,)), "DY": (dtype, (m, n))},
        {"DX": (dtype, (m, n)), "DW": (dtype, (n,)), "DB": (dtype, (n,))}, peer, scalars={"eps": 1e-5})


def scaled(torch, x, width):
    """x as e4m3 in units of a scale for each `width` columns, and the scales."""
    groups = x.float().unflatten(1, (-1, width))
    scales = groups.abs().amax(2, keepdim=True) / 448
    return (groups / scales).to(torch.float8_e4m3fn).flatten(1), scales.squeeze(2)


SCALED = {"tensor": 0, "row": 1, "group": 2}


def quantized(kernel, m, n, dtype, per, peer, inputs):
    """`per`: what has a scale. A rounding that falls to the other side is a step of an eighth: the tolerance is a few of them."""
    groups = n // 128 if per == "group" else 1
    given = {"GIVEN": lambda torch: torch.full((1,), 0.01, device="cuda")} if per == "tensor" else {}

    def both(torch, t):
        if per == "tensor":
            return (peer(torch, t).float() / t["GIVEN"]).clamp(-448, 448).to(torch.float8_e4m3fn)
        return scaled(torch, peer(torch, t), 128 if per == "group" else n)
    outputs = {"Q": ("e4m3", (m, n))} | ({} if per == "tensor" else {"SCALE": ("f32", (m, groups))})
    return f"{kernel} {m} x {n} {dtype}, a scale per {per}", Problem(
        f"{kernel} M={m} N={n} T={dtype} SCALES={SCALED[per]}", inputs | given, outputs, both, tolerance=2e-2,
        scalars={} if kernel == "quantize" else {"eps": 1e-5})


def quantize(m, n, dtype, per):
    return quantized("quantize", m, n, dtype, per, lambda torch, t: t["X"], {"X": (dtype, (m, n))})


def codes_of_e2m1(torch, x):
    """Of the nearest numbers, of two the even one; two in a byte."""
    size = x.abs()
    even, odd = (torch.tensor(between, device="cuda") for between in ((0.25, 1.25, 2.5, 5.0), (0.75, 1.75, 3.5)))
    codes = torch.bucketize(size, even) + torch.bucketize(size, odd, right=True) + 8 * x.signbit()
    return (codes[..., ::2] + 16 * codes[..., 1::2]).to(torch.uint8)


FORMATS = {"mxfp8": 3, "mxfp4": 4, "nvfp4": 5}


def in_blocks(torch, x, name, blocked):
    """x in units of scales of 8 bits, and the scales, as a matrix or in blocks of 128 rows by 4."""
    groups = x.float().unflatten(1, (-1, 16 if name == "nvfp4" else 32))
    greatest = groups.abs().amax(2)
    if name == "nvfp4":
        scales = (greatest / 6).to(torch.float8_e4m3fn)
        quotient = groups * (1 / scales.float()).unsqueeze(2)
    else:  # the least power of two with which none is beyond 448, 0.875 * 2^9, or 6, 0.75 * 2^3
        fraction, exponent = torch.frexp(greatest)
        exponent = exponent - (9 - (fraction > 0.875).int() if name == "mxfp8" else 3 - (fraction > 0.75).int())
        scales, quotient = (exponent + 127).to(torch.uint8), torch.ldexp(groups, -exponent.unsqueeze(2))
    quotient = quotient.flatten(1)
    if blocked:
        scales = scales.view(torch.uint8).unflatten(0, (-1, 4, 32)).unflatten(3, (-1, 4)).permute(0, 3, 2, 1, 4).flatten(3).contiguous().view(scales.dtype)
    return quotient.to(torch.float8_e4m3fn) if name == "mxfp8" else codes_of_e2m1(torch, quotient), scales


def quantize_squares(m, n, dtype):
    def peer(torch, t):
        squares = t["X"].float().view(m // 128, 128, n // 128, 128)
        scales = squares.abs().amax((1, 3), keepdim=True) / 448
        return (squares / scales).to(torch.float8_e4m3fn).view(m, n), scales.view(m // 128, n // 128)
    return f"quantize {m} x {n} {dtype}, a scale per square", Problem(
        f"quantize M={m} N={n} T={dtype} SCALES=6", {"X": (dtype, (m, n))}, {"Q": ("e4m3", (m, n)), "SCALE": ("f32", (m // 128, n // 128))},
        peer, tolerance=2e-2)


def quantize_blocks(m, n, dtype, name, blocked=False):
    four, groups = name != "mxfp8", n // (16 if name == "nvfp4" else 32)
    q, e = "u8" if four else "e4m3", "e4m3" if name == "nvfp4" else "u8"
    shape = (m // 128, groups // 4, 32, 16) if blocked else (m, groups)
    return f"quantize {m} x {n} {dtype} to {name}{', blocks of scales' if blocked else ''}", Problem(
        f"quantize M={m} N={n} T={dtype} SCALES={FORMATS[name]} O={q} E={e} BLOCKED={int(blocked)}", {"X": (dtype, (m, n))},
        {"Q": (q, (m, n // 2 if four else n)), "BLOCKS" if blocked else "SCALE": (e, shape)},
        lambda torch, t: in_blocks(torch, t["X"], name, blocked), tolerance=2e-2)


def dequantize(m, n, dtype, name):
    """Of what PyTorch quantized."""
    four, width = name != "mxfp8", 16 if name == "nvfp4" else 32
    made = {}

    def part(index):
        def make(torch):
            if not made:
                made.update(zip((0, 1), in_blocks(torch, torch.randn((m, n), device="cuda"), name, False)))
            return made.pop(index) if len(made) == 1 else made[index]
        return make

    def peer(torch, t):
        scales = t["SCALE"].float() if name == "nvfp4" else torch.exp2(t["SCALE"].float() - 127)
        if four:
            numbers = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], device="cuda")
            x = numbers[torch.stack((t["Q"] & 15, t["Q"] >> 4), 2).flatten(1).int()]
        else:
            x = t["Q"].float()
        return (x.unflatten(1, (-1, width)) * scales.unsqueeze(2)).flatten(1).to(getattr(torch, TORCH[dtype]))
    return f"dequantize {m} x {n} {name} to {dtype}", Problem(
        f"dequantize M={m} N={n} O={dtype} SCALES={FORMATS[name]} T={'u8' if four else 'e4m3'} E={'e4m3' if name == 'nvfp4' else 'u8'}",
        {"Q": part(0), "SCALE": part(1)}, {"Y": (dtype, (m, n))}, peer)


def layer_norm_quantize(m, n, dtype, per):
    return quantized("layer_norm_quantize", m, n, dtype, per,
                     lambda torch, t: torch.nn.functional.layer_norm(t["X"].float(), (n,), t["W"].float(), None, 1e-5),
                     {"X": (dtype, (m, n)), "W": (dtype, (n,))})


def rms_norm_quantize(m, n, dtype, per):
    return quantized("rms_norm_quantize", m, n, dtype, per,
                     lambda torch, t: torch.nn.functional.rms_norm(t["X"].float(), (n,), t["W"].float(), 1e-5),
                     {"X": (dtype, (m, n)), "W": (dtype, (n,))})


def residual_norm_quantize(m, n, dtype):
    """With a residual that is added first, and the sum stored: the whole of what stands between two layers."""
    def peer(torch, t):
        x = t["X"] + t["residual"]
        y = torch.nn.functional.rms_norm(x.float(), (n,), t["W"].float(), 1e-5)
        return *scaled(torch, y, 128), x
    return f"rms_norm_quantize {m} x {n} {dtype}, with a residual", Problem(
        f"rms_norm_quantize M={m} N={n} T={dtype} SCALES=2 SUM=1 --hook input=x+residual[row,column] --operand residual:{dtype}[M,N]",
        {"X": (dtype, (m, n)), "residual": (dtype, (m, n)), "W": (dtype, (n,))},
        {"Q": ("e4m3", (m, n)), "SCALE": ("f32", (m, n // 128)), "S": (dtype, (m, n))}, peer, scalars={"eps": 1e-5}, tolerance=2e-2)


ROWS = [(1048576, 16), (524288, 32), (262144, 64), (131072, 128), (65536, 512), (32768, 1000), (32768, 1001), (16384, 2048), (8192, 4096), (8192, 8192), (4096, 16384),
        (2048, 32768), (1024, 65536), (512, 131072), (256, 262144)]

REDUCED = [(1, 1 << 30, 1), (1, 1 << 24, 1), (262144, 64, 1), (65536, 512, 1), (32768, 1000, 1), (16384, 4096, 1),
           (4096, 16384, 1), (600, 262144, 1), (64, 1 << 20, 1), (32768, 1001, 1), (1, 65536, 4096), (1, 4096, 4096),
           (1, 1 << 22, 64), (1, 1 << 24, 3), (128, 1024, 1024), (16384, 16, 512)]
SEARCHED = [(1, 1 << 30), (32, 129280), (65536, 512), (16384, 4096), (4096, 32000), (1024, 128256)]
SELECTED = [(32, 129280, 64), (32, 129280, 8), (1, 129280, 50), (256, 129280, 64), (1024, 32000, 50), (16384, 256, 8)]

SCANNED = [(1, 1 << 28), (1, 1 << 24), (1, 1 << 20), (64, 1 << 20), (4096, 32768), (16384, 4096), (65536, 512), (262144, 64),
           (32768, 1001)]
FILLED = [(1, 1 << 28), (32768, 4096), (10007, 4099), (1000000, 48)]
PADDED = [(64, 1000, 1000, 8, 16), (64, 1000, 1000, 3, 2), (64, 1024, 1024, -8, -8), (512, 224, 224, 1, 1)]
# Rows, columns of a few widths (queries, keys and values; gates), odd ones, and short rows of a middle dimension.
JOINED = [(1, (60000, 30000), 2048), (32768, (4096, 1024, 1024), 1), (32768, (2048, 2048), 1), (32768, (1001, 999), 1),
          (64, (1000, 24), 1024), (1, (10000, 20000, 30000, 5000), 1000),
          (32768, (1024,) * 8, 1), (1, (8192,) * 6, 1024)]
# Convolutions' layers: batch, channels, height times width, groups.
GROUPED = [(64, 256, 56 * 56, 32), (256, 512, 14 * 14, 32), (32, 320, 64 * 64, 32), (2, 512, 512 * 512, 32), (1024, 64, 49, 16),
           (16, 128, 128 * 128, 1), (512, 640, 77, 32)]
# Of models that draw pictures: fewer batches, groups of 2 KiB to 1.25 MiB in bf16.
DRAWN = [(32, 128, 256, 32), (32, 640, 256, 32), (32, 1280, 256, 32), (16, 640, 1024, 32), (16, 1280, 1024, 32), (8, 640, 64 * 64, 32),
         (8, 128, 128 * 128, 32), (8, 256, 128 * 128, 32), (8, 512, 128 * 128, 32), (8, 1280, 128 * 128, 32)]

MATRICES = [(1, 32768, 4096), (1, 8192, 16384), (1, 131072, 1024), (1, 8192, 8192)]
# Rows that begin at 16 bytes on both sides, on one side and on neither; matrices narrower than a tile, and many of them.
ODD_MATRICES = [(1, 10007, 4099), (1, 10000, 4112), (1, 8192, 8200), (1, 8192, 8191), (1, 8191, 8192), (1, 5000, 12345),
                (16, 2048, 2048), (64, 1000, 1000), (4096, 128, 96), (1, 1000000, 48)]

# Heads before or after the sequence, channels first or last, windows of an image, dimensions reversed.
PERMUTATIONS = [((16, 4096, 32, 128), (0, 2, 1, 3), "bf16"), ((16, 4096, 32, 64), (0, 2, 3, 1), "bf16"),
                ((32, 2048, 16, 64), (2, 0, 1, 3), "f32"), ((512, 512, 512), (2, 1, 0), "bf16"),
                ((512, 512, 512), (1, 0, 2), "f32"), ((500, 300, 700), (2, 1, 0), "f32"),
                ((64, 8, 56, 8, 512), (0, 1, 3, 2, 4), "bf16"), ((32, 64, 16, 16, 256), (0, 4, 2, 1, 3), "bf16"),
                ((16, 64, 64, 32, 48), (4, 3, 2, 1, 0), "f32"), ((64, 128, 128, 96), (3, 1, 0, 2), "u8")]

PROBLEMS = dict([f(m, n, dtype) for f in (softmax, rms_norm, layer_norm) for dtype in ("bf16", "f32") for m, n in ROWS] +
                [softmax(4096, 1000, "f32")] +
                [f(m, n, "bf16") for f in (log_softmax, cross_entropy, cross_entropy_backward)
                 for m, n in ((8192, 4096), (4096, 32000), (2048, 128256))] +
                [softmax_backward(m, n, dtype) for dtype in ("bf16", "f32") for m, n in ROWS if n <= 65536] +
                [f(m, n, dtype) for f in (rms_norm_backward, layer_norm_backward) for dtype in ("bf16", "f32")
                 for m, n in ROWS if 64 <= n <= 131072] +
                [f(m, n, "bf16", per) for f in (quantize, rms_norm_quantize) for per in SCALED
                 for m, n in ((131072, 128), (32768, 1024), (8192, 4096), (8192, 7168), (4096, 16384), (64, 7168))] +
                [quantize_blocks(m, n, dtype, name, blocked) for name in FORMATS for m, n, dtype, blocked in
                 ((8192, 4096, "bf16", False), (8192, 7168, "bf16", True), (32768, 1024, "bf16", False), (8192, 4096, "f32", True))] +
                [dequantize(8192, 7168, "bf16", name) for name in FORMATS] +
                [reduce(*shape, dtype) for dtype in ("f32", "bf16") for shape in REDUCED] +
                [reduce(*shape, "bf16", "amax") for shape in ((1, 1 << 30, 1), (16384, 4096, 1), (1, 65536, 4096))] +
                [argmax(*shape, dtype) for dtype in ("f32", "bf16") for shape in SEARCHED] +
                [top_k(*shape, dtype) for dtype in ("f32", "bf16") for shape in SELECTED] +
                [scan(*shape, dtype) for dtype in ("f32", "bf16") for shape in SCANNED] +
                [copy(1 << 28), copy(1 << 26), copy(1 << 28, "f32", "bf16"), copy(1 << 28, "bf16", "f32"), copy_rows(16384, 16000, 16384, "f32"),
                 copy_rows(16384, 16000, 16384, "bf16"), map_mixed(16384, 8192)] +
                [reduce_dimensions(*problem, dtype) for dtype in ("f32", "bf16") for problem in
                 (((64, 256, 56 * 56), (0, 2)), ((64, 56 * 56, 256), (0, 1)), ((32, 64, 128, 512), (0, 2)), ((16, 1024, 16, 1024), (1, 3)))] +
                [group_norm_backward(*shape, dtype) for dtype in ("bf16", "f32") for shape in GROUPED + DRAWN] +
                [log_softmax_backward(m, n, "bf16") for m, n in ((8192, 4096), (4096, 32000), (2048, 128256))] +
                [layer_norm_quantize(m, n, "bf16", per) for per in SCALED for m, n in ((32768, 1024), (8192, 4096))] +
                [group_norm_quantize(*shape, "bf16", per) for per in ("tensor", "group")
                 for shape in ((64, 256, 56 * 56, 32), (256, 512, 14 * 14, 32), (32, 320, 64 * 64, 32))] +
                [residual_norm_quantize(m, n, "bf16") for m, n in ((8192, 4096), (8192, 7168))] +
                [quantize_squares(*shape) for shape in ((8192, 4096, "bf16"), (8192, 7168, "bf16"), (8192, 4096, "f32"))] +
                [fill(*shape, dtype) for dtype in ("f32", "bf16", "u8") for shape in FILLED if dtype != "u8" or shape[0] > 1] +
                [pad(*shape, dtype) for dtype in ("bf16", "f32") for shape in PADDED] +
                [pad_dimensions(*problem, dtype) for dtype in ("bf16", "f32") for problem in
                 (((2, 64, 60, 60, 256), (0, 0, 2, 2, 0), (0, 0, 2, 2, 0)), ((4, 16, 30, 30, 1000), (0, 0, 1, 1, 8), (0, 0, 1, 1, 16)))] +
                [f(*shape, dtype) for f in (concat, split) for dtype in ("bf16", "f32") for shape in JOINED] +
                [group_norm(*shape, dtype) for dtype in ("bf16", "f32") for shape in GROUPED] +
                [qk_norm_rope(*shape, dtype) for dtype in ("bf16", "f32")
                 for shape in ((32768, 32, 128), (32768, 8, 128), (65536, 24, 64), (16384, 24, 256), (64, 40, 128))] +
                [gather(1 << 20, 1024, 1 << 18, "f32"), gather(128256, 4096, 16384, "bf16"), gather(1 << 20, 1021, 1 << 17, "bf16", 1021)] +
                [scatter(1 << 18, 1024, "f32", unique) for unique in (False, True)] +
                [scatter_add(128256, 4096, 16384, "bf16"), scatter_add(128256, 4096, 65536, "bf16"),
                 scatter_add(32000, 2048, 65536, "f32"), scatter_add(128256, 4096, 16384, "bf16", True)] +
                [sample(*shape, dtype, *choice) for dtype in ("f32", "bf16") for shape in ((32, 129280), (256, 129280), (1, 129280))
                 for choice in ((1.0,), (0.0,), (0.8, 50), (0.8, 0, 0.95), (0.8, 50, 0.95))] +
                [transpose(*shape, dtype) for dtype in ("bf16", "f32", "u8") for shape in MATRICES + ODD_MATRICES] +
                [permute(*problem) for problem in PERMUTATIONS])

# At most 1 MiB moved, unlike all of PROBLEMS.
SMALL = {name: problem for name, problem in
         [f(m, n, "bf16") for f in (softmax, rms_norm, layer_norm, log_softmax, softmax_backward)
          for m, n in ((1, 4096), (32, 4096), (4, 32000), (512, 128), (64, 1000))] +
         [f(m, n, "bf16") for f in (rms_norm_backward, layer_norm_backward) for m, n in ((32, 4096), (512, 128))] +
         [cross_entropy(m, n, "bf16") for m, n in ((16, 16000), (1, 128256))] +
         [f(32, 4096, "bf16", per) for f in (quantize, rms_norm_quantize) for per in SCALED] +
         [reduce(*shape, dtype) for dtype in ("f32", "bf16") for shape in ((1, 1 << 16, 1), (64, 1024, 1), (1, 256, 512), (1024, 64, 1))] +
         [argmax(*shape, "f32") for shape in ((32, 4096), (1, 128256))] +
         [scan(*shape, "f32") for shape in ((1, 1 << 16), (64, 1024), (1024, 64))] +
         [top_k(16, 8192, 8, "f32"), top_k(512, 256, 8, "f32"), sample(1, 128256, "f32"), sample(8, 16000, "f32", 0.8, 50)] +
         [fill(256, 1000, "f32"), concat(64, (1000, 24), 1, "f32"), pad(4, 100, 100, 1, 1, "f32"), group_norm(2, 64, 1024, 8, "bf16"),
          qk_norm_rope(32, 8, 128, "bf16"), gather(1024, 512, 128, "f32"), scatter(256, 256, "f32", True),
          transpose(1, 512, 512, "bf16"), transpose(1, 300, 301, "f32"), permute((8, 64, 8, 64), (0, 2, 1, 3), "bf16"),
          scatter_add(256, 512, 128, "f32")]}
