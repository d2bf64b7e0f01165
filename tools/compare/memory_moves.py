"""The problems of memory.py that move elements: what is asked of tma-jit, its tensors, and PyTorch's way to the same result."""
from problem import TORCH, Problem


def fill(m, n, dtype):
    return f"fill {m} x {n} {dtype}", Problem(
        f"fill M={m} N={n} T={dtype} F=f32", {}, {"Y": (dtype, (m, n))},
        lambda torch, t: torch.full((m, n), 2, dtype=getattr(torch, TORCH[dtype]), device="cuda"), scalars={"x": 2}, tolerance=0)


def copy(n, dtype="f32", result="f32"):
    words = f" O={result}" if result != dtype else ""
    return f"copy {n} {dtype} to {result}", Problem(
        f"copy N={n} T={dtype}{words}", {"S": (dtype, (n,))}, {"D": (result, (n,))},
        lambda torch, t: t["S"].to(getattr(torch, TORCH[result]), copy=True), tolerance=0)


def copy_rows(m, n, pitch, dtype):
    """Rows of a wider matrix on both sides."""
    return f"copy {m} x {n} of {pitch} {dtype}", Problem(
        f"copy M={m} N={n} T={dtype} --pitch S={pitch} --pitch D={pitch}",
        {"S": lambda torch: torch.randn((m, pitch), device="cuda").to(getattr(torch, TORCH[dtype]))[:, :n]},
        {"D": lambda torch: torch.zeros((m, pitch), device="cuda", dtype=getattr(torch, TORCH[dtype]))[:, :n]},
        lambda torch, t: torch.empty((m, pitch), device="cuda", dtype=t["S"].dtype)[:, :n].copy_(t["S"]), tolerance=0)


def pad(b, m, n, before, after, dtype):
    """`before` elements of 0 above and left of each matrix, `after` below and right of it; those below 0 crop."""
    rows, columns = m + before + after, n + before + after
    return f"pad {b} x {m} x {n} by {before}, {after} {dtype}", Problem(
        f"pad B={b} M={rows} N={columns} R={m} C={n} T={dtype}", {"S": (dtype, (b, m, n))}, {"D": (dtype, (b, rows, columns))},
        lambda torch, t: torch.nn.functional.pad(t["S"], (before, after, before, after)),
        scalars={"value": 0, "top": before, "left": before}, tolerance=0)


def pad_dimensions(shape, before, after, dtype):
    """Of five dimensions, each with its own number of elements before and after."""
    result = tuple(b + n + a for b, n, a in zip(before, shape, after))
    words = " ".join(f"M{i}={m} N{i}={n}" for i, (m, n) in enumerate(zip(result, shape)))
    sides = [side for pair in reversed(list(zip(before, after))) for side in pair]
    return f"pad {shape} by {before} and {after} {dtype}", Problem(
        f"pad {words} T={dtype}", {"S": (dtype, shape)}, {"D": (dtype, result)},
        lambda torch, t: torch.nn.functional.pad(t["S"], sides),
        scalars={"value": 0} | {f"before{i}": b for i, b in enumerate(before)}, tolerance=0)


def concat(m, parts, k, dtype):
    """Parts of m x n x k along the middle dimension: rows where m is 1, columns where k is 1."""
    extents = " ".join(f"N{i}={n}" for i, n in enumerate(parts))
    return f"concat {m} x {parts} x {k} {dtype}", Problem(
        f"concat M={m} {extents} K={k} T={dtype}", {f"S{i}": (dtype, (m, n, k)) for i, n in enumerate(parts)},
        {"D": (dtype, (m, sum(parts), k))}, lambda torch, t: torch.cat([t[f"S{i}"] for i in range(len(parts))], 1), tolerance=0)


def split(m, parts, k, dtype):
    extents = " ".join(f"N{i}={n}" for i, n in enumerate(parts))
    return f"split {m} x {parts} x {k} {dtype}", Problem(
        f"split M={m} {extents} K={k} T={dtype}", {"S": (dtype, (m, sum(parts), k))},
        {f"D{i}": (dtype, (m, n, k)) for i, n in enumerate(parts)},
        lambda torch, t: tuple(part.contiguous() for part in t["S"].split(parts, 1)), tolerance=0)


def numbers(r, count, unique=False):
    """`count` numbers of rows below r."""
    return lambda torch: (torch.randperm(r, device="cuda")[:count] if unique else
                          torch.randint(r, (count,), device="cuda")).to(torch.int32)


def gather(r, n, count, dtype, pitch=None):
    """Of a `pitch`, whose rows do not begin at multiples of 16 bytes."""
    words = f" --pitch S={pitch} --pitch D={pitch}" if pitch else ""
    return f"gather {count} of {r} x {n} {dtype}", Problem(
        f"gather R={r} N={n} COUNT={count} T={dtype}{words}", {"S": (dtype, (r, n)), "I": numbers(r, count)},
        {"D": (dtype, (count, n))}, lambda torch, t: torch.index_select(t["S"], 0, t["I"]), tolerance=0.0)


def scatter(r, n, dtype, unique):
    """All rows, in another order, so that none of D keeps what it held."""
    return f"scatter {r} x {n} {dtype}{', numbers known to be unique' if unique else ''}", Problem(
        f"scatter R={r} N={n} COUNT={r} T={dtype} UNIQUE={int(unique)}",
        {"S": (dtype, (r, n)), "I": numbers(r, r, True)}, {"D": (dtype, (r, n))},
        lambda torch, t: torch.empty_like(t["S"]).index_copy_(0, t["I"].long(), t["S"]), tolerance=0.0)


def scatter_add(r, n, count, dtype, skewed=False):
    """Every other number the same if `skewed`, as a frequent token's is."""
    def tokens(torch):
        return numbers(r, count)(torch) * (torch.arange(count, device="cuda", dtype=torch.int32) % 2 if skewed else 1)

    def peer(torch, t):
        return torch.ops.aten.embedding_dense_backward(t["S"], t["I"].long(), r, -1, False)
    return f"scatter_add {count} to {r} x {n} {dtype}{', half of them to one' if skewed else ''}", Problem(
        f"scatter_add R={r} N={n} COUNT={count} T={dtype} O={dtype}", {"S": (dtype, (count, n)), "I": tokens},
        {"D": (dtype, (r, n))}, peer, tolerance=2e-2)


def transpose(b, m, n, dtype):
    return f"transpose {b} x {m} x {n} {dtype}", Problem(
        f"transpose B={b} M={m} N={n} T={dtype} --pitch S={n} --pitch D={m}",  # no space between rows
        {"S": (dtype, (b, m, n))}, {"D": (dtype, (b, n, m))},
        lambda torch, t: t["S"].transpose(1, 2).contiguous(), tolerance=0.0)


def permute(shape, order, dtype):
    """Leading dimensions of 1 make the rank five."""
    lacking = 5 - len(shape)
    extents, places = (1,) * lacking + shape, tuple(range(lacking)) + tuple(lacking + d for d in order)
    words = " ".join(f"N{i}={n} P{i}={place}" for i, (n, place) in enumerate(zip(extents, places)))
    return f"permute {shape} to {order} {dtype}", Problem(
        f"permute {words} T={dtype} --pitch S={extents[-1]} --pitch D={extents[places[-1]]}",
        {"S": (dtype, extents)}, {"D": (dtype, tuple(extents[d] for d in places))},
        lambda torch, t: t["S"].permute(places).contiguous(), tolerance=0.0)
