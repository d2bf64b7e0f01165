#!/usr/bin/env python3
"""gemm, as it is planned without pins, beside cuBLAS and cuBLASLt over many problems.

    tools/compare/gemm.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h100] [--seed 2026] [--drawn 60]
    tools/compare/gemm.py measure FOLDER [--rounds 30]

`prepare` needs no GPU: it plans and builds every problem for a named device. `measure` runs them where there is one, with
PyTorch and the package tma_jit, by the method of compare.py; the peer is the better of PyTorch's two libraries.
Three sets in bf16: problems of large models, problems drawn at random (squares, few rows, tall, long K, odd sizes), and projections
of transformers with 1 to 64 rows. Then a set for each type, layout and batch: 8-bit floats against torch._scaled_mm with exact and
with fast sums, tf32 and f32 (of three terms) against torch.mm, s8 against torch._int_mm, operands whose rows lie along M or N against torch.mm of
transposed views, and batches against torch.bmm. `--sets` chooses among them.
"""
import math
import os
import random

import prepared
from command_line import parser_of, run, target
from ratios import mean_and_least

MODELS = [(1024,) * 3, (2048,) * 3, (4096,) * 3, (8192,) * 3, (16384,) * 3, (4096, 14336, 4096), (4096, 4096, 14336),
          (8192, 28672, 8192), (8192, 8192, 28672), (16, 8192, 8192), (64, 8192, 8192), (128, 7168, 4096), (128, 24576, 1536),
          (512, 4096, 7168), (2048, 7168, 2048), (4096, 7168, 2304), (5000, 5120, 2880)]
PROJECTIONS = [(6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336)]  # N and K in a transformer of 8 billion parameters
ROWS = [1, 2, 4, 8, 16, 32, 64]


def drawn(seed, count):
    """Extents are uniform in their logarithm, in multiples of what keeps rows at 16 bytes; the kinds take turns."""
    generator = random.Random(seed)

    def extent(least, most, multiple):
        value = int(math.exp(generator.uniform(math.log(least), math.log(most))))
        return max(multiple, value // multiple * multiple)

    kinds = [lambda: (extent(512, 8192, 64),) * 3,
             lambda: (extent(1, 128, 1), extent(1024, 16384, 64), extent(1024, 16384, 64)),
             lambda: (extent(4096, 32768, 64), extent(128, 2048, 64), extent(256, 4096, 64)),
             lambda: (extent(64, 1024, 8), extent(64, 1024, 8), extent(8192, 65536, 64)),
             lambda: (extent(256, 6000, 8), extent(256, 6000, 8), extent(256, 6000, 8))]
    return [kinds[i % len(kinds)]() for i in range(count)]


VARIANTS = {"fp8": ["T=e4m3"], "fp8, fast sums": ["T=e4m3", "FAST=1"], "tf32": ["T=f32", "O=f32"], "s8": ["T=s8", "O=s32"],
            "f32": ["T=f32", "O=f32", "TERMS=3"],
            "A along M": ["TA=1"], "B along N": ["TB=1"], "both along M and N": ["TA=1", "TB=1"]}
VARIED = [(1024,) * 3, (2048,) * 3, (4096,) * 3, (8192,) * 3, (4096, 14336, 4096), (4096, 4096, 14336), (64, 8192, 8192),
          (2048, 7168, 2048), (4096, 7168, 2304)]
BATCHES = {"batch": [(64, 512, 512, 512), (16, 1024, 1024, 1024), (8, 2048, 2048, 2048), (256, 128, 256, 128), (32, 4096, 128, 512)],
           "batch, one B": [(64, 512, 512, 512), (8, 2048, 2048, 2048)]}


def problems_of(options):
    """A set's name, the problem (batch, M, N, K; batch 0 is a gemm) and its words, for each problem."""
    plain = {"models": MODELS, "drawn": drawn(options.seed, options.drawn),
             "few rows": [(m, n, k) for m in ROWS for n, k in PROJECTIONS]}
    for name, problems in plain.items():
        yield from ((name, (0, *problem), []) for problem in problems)
    for name, words in VARIANTS.items():
        yield from ((name, (0, *problem), words) for problem in VARIED)
    for name, problems in BATCHES.items():
        for batch, m, n, k in problems:
            yield name, (batch, m, n, k), [f"BATCH={batch}", f"A_BATCH={batch}", f"B_BATCH={1 if 'one B' in name else batch}"]


def prepare(options):
    chosen = options.sets.split(";") if options.sets else None
    entries = []
    for name, problem, words in problems_of(options):
        if chosen and name not in chosen:
            continue
        batch, m, n, k = problem
        file = f"{len(entries)}.cubin"
        request = ["gemm_batched" if batch else "gemm", f"M={m}", f"N={n}", f"K={k}", *words, *target(options)]
        plan = prepared.prepare(options.tma_jit, request, os.path.join(options.folder, file))
        entries.append({"set": name, "problem": problem, "words": words, "file": file, "plan": plan})
    return entries


def operands(torch, entry):
    """A, B (as many rows as M and N, K columns) and D, whose type ours and the peer share."""
    batch, m, n, k = entry["problem"]
    words = entry["words"]
    one_b = "B_BATCH=1" in words

    def of(rows, count):
        shape = (count, rows, k) if batch else (rows, k)
        if "T=s8" in words:
            return torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8)
        made = torch.randn(shape, device="cuda")
        return made if "T=f32" in words else made.to(torch.float8_e4m3fn if "T=e4m3" in words else torch.bfloat16)
    out = torch.float32 if "O=f32" in words else torch.int32 if "O=s32" in words else torch.bfloat16
    d = torch.empty((batch, m, n) if batch else (m, n), device="cuda", dtype=out)
    return of(m, batch), of(n, 1 if one_b else batch), d


def peers(torch, entry, a, b, out):
    """The calls of PyTorch that compute the same; each leaves its result in `out`."""
    words = entry["words"]

    def library(name, call):
        def use():
            torch.backends.cuda.preferred_blas_library(name)
            call()
        return use
    if "T=e4m3" in words:
        one = torch.ones((), device="cuda")
        return [lambda: torch._scaled_mm(a, b.T, scale_a=one, scale_b=one, out_dtype=out.dtype,
                                         use_fast_accum="FAST=1" in words, out=out)]
    if "T=s8" in words:
        return [lambda: torch._int_mm(a, b.T, out=out)]
    torch.backends.cuda.matmul.allow_tf32 = "TERMS=3" not in words
    if entry["problem"][0]:
        right = b.transpose(1, 2).expand(a.shape[0], -1, -1)
        return [library(name, lambda: torch.bmm(a, right, out=out)) for name in ("cublas", "cublaslt")]
    left = a.T.contiguous().T if "TA=1" in words else a
    right = b.T.contiguous() if "TB=1" in words else b.T
    return [library(name, lambda: torch.mm(left, right, out=out)) for name in ("cublas", "cublaslt")]


def timed(compare, torch, options, entry, flush):
    """Milliseconds of ours and of the better library."""
    a, b, d = operands(torch, entry)
    peer = torch.empty_like(d)
    for result in (d, peer):
        result.view(torch.uint8).fill_(0xFF)
    tensors = {"A": a, "B": b, "D": d}
    if "TA=1" in entry["words"]:
        tensors["AT"] = a.T.contiguous()
    if "TB=1" in entry["words"]:
        tensors["BT"] = b.T.contiguous()
    ours = compare.Kernel(entry["plan"], os.path.join(options.folder, entry["file"]), tensors)
    times = compare.alternate([ours, *peers(torch, entry, a, b, peer)], options.rounds, flush)
    what = f"{entry['set']} {entry['problem']}"
    error = ((d.double() - peer.double()).norm() / peer.double().norm()).item()
    assert error < (2e-2 if "FAST=1" in entry["words"] else 6e-3), f"{what} differs from the peer by {error}"
    first = d.clone()
    ours()
    torch.cuda.synchronize()
    assert torch.equal(first, d), f"{what} is not the same twice"
    return times[0], min(times[1:]), ours.config


def measure(compare, torch, options, entries, flush):
    print("| set | M x N x K | us | TFLOP/s | GB/s | the better library, us | ratio | configuration |\n"
          "|---|---|---:|---:|---:|---:|---:|---|")
    ratios = {}
    for entry in entries:
        batch, m, n, k = entry["problem"]
        work = entry["plan"]["work"]
        ours, peer, config = timed(compare, torch, options, entry, flush)
        ratios.setdefault(entry["set"], []).append(peer / ours)
        options.pictured.add(entry["set"], entry["plan"], ours, {"the better of PyTorch's libraries": peer})
        print(f"| {entry['set']} | {f'{batch} of ' if batch else ''}{m} x {n} x {k} | {ours * 1e3:.1f} | "
              f"{work['flops'] / ours / 1e9:,.0f} | {work['bytes'] / ours / 1e6:,.0f} | {peer * 1e3:.1f} | {peer / ours:.3f} | "
              f"{os.path.basename(entry['plan']['file'])} {config} |", flush=True)
    print("\n| set | problems | geometric mean | least |\n|---|---:|---:|---:|")
    for name, values in ratios.items():
        print(f"| {name} | {len(values)} | {mean_and_least(values, ' | ')} |")


def main():
    parser = parser_of(__doc__, device="h100", rounds=30)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--drawn", type=int, default=60)
    parser.add_argument("--sets", help="of `prepare`: names of sets with ; between them; all if absent")
    options = parser.parse_args()
    run(options, prepare, measure)


if __name__ == "__main__":
    main()
