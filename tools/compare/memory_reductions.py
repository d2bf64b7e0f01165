"""Reductions, scans, searches and draws: those problems of memory.py."""
import math

from problem import Problem

OPERATIONS = {"sum": 0, "mean": 1, "amax": 2, "amin": 3}


def reduce(m, k, n, dtype, operation="sum"):
    return f"reduce {operation} {m} x {k} x {n} {dtype}", Problem(
        f"reduce M={m} K={k} N={n} T={dtype} O={dtype} OP={OPERATIONS[operation]}", {"X": (dtype, (m, k, n))},
        {"Y": (dtype, (m, n))}, lambda torch, t: getattr(torch, operation)(t["X"], 1), scalars={"neutral": 0})


def argmax(m, k, dtype):
    return f"argmax {m} x {k} {dtype}", Problem(
        f"argmax M={m} K={k} T={dtype} J=s64 VALUES=0", {"X": (dtype, (m, k))}, {"I": ("s64", (m,))},
        lambda torch, t: torch.argmax(t["X"], 1), tolerance=0)


def top_k(m, n, k, dtype):  # PyTorch does not say which of equal elements it takes: values are compared
    return f"top_k {k} of {m} x {n} {dtype}", Problem(
        f"top_k M={m} N={n} K={k} T={dtype} J=s64", {"X": (dtype, (m, n))}, {"V": (dtype, (m, k)), "I": ("s64", (m, k))},
        lambda torch, t: torch.topk(t["X"], k, 1)[0])


def scan(m, n, dtype):
    """Running sums in f32, which is what PyTorch is asked for too: sums in bf16 would soon stand still."""
    return f"scan {m} x {n} {dtype}", Problem(
        f"scan M={m} N={n} T={dtype} O=f32", {"X": (dtype, (m, n))}, {"Y": ("f32", (m, n))},
        lambda torch, t: torch.cumsum(t["X"], 1, dtype=torch.float32), scalars={"neutral": 0})


def reduce_dimensions(shape, dims, dtype):
    lacking = 5 - len(shape)
    extents = (1,) * lacking + shape
    combined = [lacking + d for d in dims]
    words = " ".join(f"N{i}={n} R{i}={int(i in combined)}" for i, n in enumerate(extents))
    return f"reduce {shape} over {dims} {dtype}", Problem(
        f"reduce {words} T={dtype} O={dtype} --pitch X={extents[-1]}", {"X": (dtype, extents)},
        {"Y": (dtype, tuple(1 if i in combined else n for i, n in enumerate(extents)))},
        lambda torch, t: t["X"].sum(combined, keepdim=True), scalars={"neutral": 0})


def sample(m, n, dtype, temperature=1.0, top_k=0, top_p=1.0):
    """Tokens are random, so that only those of temperature 0 are compared."""
    def peer(torch, t):
        if temperature == 0:
            return torch.argmax(t["X"], 1)
        logits, columns = t["X"].float() / temperature, None
        if top_k > 0 or top_p < 1:
            logits, columns = logits.topk(top_k, 1) if top_k > 0 else logits.sort(1, descending=True)
        chances = logits.softmax(1)
        if top_p < 1:
            chances = chances.masked_fill(chances.cumsum(1) - chances >= top_p, 0)
        token = torch.multinomial(chances, 1)
        return token if columns is None else columns.gather(1, token)
    return f"sample {m} x {n} {dtype}, temperature {temperature}, top_k {top_k}, top_p {top_p}", Problem(
        f"sample M={m} N={n} T={dtype} J=s64", {"X": (dtype, (m, n))}, {"I": ("s64", (m,))}, peer,
        scalars={"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": 1, "offset": 0},
        tolerance=0 if temperature == 0 else math.inf)
