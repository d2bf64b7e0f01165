#!/usr/bin/env python3
"""What rows whose bits depend on no other row cost: gemm with INVARIANT=1 beside gemm as it is planned, from one row to many.

    tools/compare/gemm_invariant.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200]
    tools/compare/gemm_invariant.py measure FOLDER [--rounds 15]

`prepare` needs no GPU. `measure` also compares the bits: each number of rows must give those that the first rows have in the product of
the most. Ratios are the time as planned over that with INVARIANT=1, whose peer PyTorch's better library is, too.
"""
import os

from command_line import parser_of, run, target
from prepared import prepare as build
from ratios import mean_and_least

ROWS = [1, 4, 16, 64, 128, 512, 2048]
PROBLEMS = [("bf16", 6144, 4096), ("bf16", 4096, 14336), ("e4m3", 6144, 4096), ("f32", 2048, 4096), ("f32 TERMS=3", 2048, 4096)]


def prepare(options):
    entries = []
    for kind, n, k in PROBLEMS:
        dtype, *words = kind.split()
        for m in reversed(ROWS):
            plans = []
            for more in ([], ["INVARIANT=1"]):
                file = f"{len(entries)}_{len(plans)}.cubin"
                request = ["gemm", f"M={m}", f"N={n}", f"K={k}", f"T={dtype}", f"O={'f32' if dtype == 'f32' else 'bf16'}", *words, *more, *target(options)]
                plans.append([build(options.tma_jit, request, os.path.join(options.folder, file)), file])
            entries.append({"kind": kind, "problem": (m, n, k), "plans": plans})
    return entries


def measure(compare, torch, options, entries, flush):
    print("| type | M x N x K | as planned, us | invariant, us | ratio | peer, us | of the peer |\n|---|---|---:|---:|---:|---:|---:|")
    ratios = {}
    a = b = most = None
    for entry in entries:
        kind, (m, n, k) = entry["kind"], entry["problem"]
        dtype = {"bf16": torch.bfloat16, "e4m3": torch.float8_e4m3fn}.get(kind, torch.float32)
        if m == max(ROWS):
            a, b = (torch.randn(rows, k, device="cuda").to(dtype) for rows in (m, n))
        out = torch.float32 if kind.startswith("f32") else torch.bfloat16
        torch.backends.cuda.matmul.allow_tf32 = "TERMS" not in kind
        sides, results, one = [], [], torch.ones((), device="cuda")
        for plan, file in entry["plans"]:
            results.append(compare.poisoned(torch.empty(m, n, device="cuda", dtype=out)))
            sides.append(compare.Kernel(plan, os.path.join(options.folder, file), {"A": a[:m], "B": b, "D": results[-1]}))
        if kind == "e4m3":
            sides.append(lambda: torch._scaled_mm(a[:m], b.T, scale_a=one, scale_b=one, out_dtype=out))
        else:
            sides.append(lambda: torch.mm(a[:m], b.T))
        times = compare.alternate(sides, options.rounds, flush)
        if m == max(ROWS):
            most = results[1].clone()
            error = compare.difference(most, a.float() @ b.float().T)
            assert error < 6e-3, f"{kind}: differs from PyTorch by {error}"
        assert torch.equal(results[1], most[:m]), f"{kind}: {m} rows have other bits than among {max(ROWS)}"
        ratios.setdefault(kind, []).append(times[0] / times[1])
        print(f"| {kind} | {m} x {n} x {k} | {times[0] * 1e3:.1f} | {times[1] * 1e3:.1f} | {times[0] / times[1]:.3f} | {times[2] * 1e3:.1f} | "
              f"{times[2] / times[1]:.3f} |", flush=True)
    print("\n| type | as planned / invariant: geometric mean | least |\n|---|---:|---:|")
    for kind, values in ratios.items():
        print(f"| {kind} | {mean_and_least(values, ' | ')} |")


if __name__ == "__main__":
    run(parser_of(__doc__, rounds=15).parse_args(), prepare, measure)
