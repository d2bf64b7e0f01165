#!/usr/bin/env python3
"""gemm, as it is planned without pins, beside cuBLAS and cuBLASLt over many problems.

    tools/compare/gemm.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h100] [--seed 2026] [--drawn 60]
    tools/compare/gemm.py measure FOLDER [--rounds 30]

`prepare` needs no GPU: it plans and builds every problem for a named device. `measure` runs them where there is one, with
PyTorch and the driver's Python bindings, by the method of compare.py; the peer is the better of PyTorch's two libraries.
Three sets: problems of large models, problems drawn at random (squares, few rows, tall, long K, odd sizes), and projections of
transformers with 1 to 64 rows.
"""
import argparse
import json
import math
import os
import random

import prepared

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


def prepare(options):
    os.makedirs(options.folder, exist_ok=True)
    sets = {"models": MODELS, "drawn": drawn(options.seed, options.drawn),
            "few rows": [(m, n, k) for m in ROWS for n, k in PROJECTIONS]}
    entries = []
    for name, problems in sets.items():
        for m, n, k in problems:
            words = ["gemm", f"M={m}", f"N={n}", f"K={k}", "--device", options.device]
            plan = prepared.prepare(options.tma_jit, words, os.path.join(options.folder, f"{m}-{n}-{k}.cubin"))
            entries.append({"set": name, "problem": [m, n, k], "plan": plan})
    with open(os.path.join(options.folder, "plans.json"), "w", encoding="utf-8") as file:
        json.dump(entries, file)


def timed(compare, torch, options, entry, flush):
    """Milliseconds of ours and of the better library."""
    m, n, k = entry["problem"]
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
    d, peer = (compare.poisoned(torch.empty(m, n, device="cuda", dtype=torch.bfloat16)) for _ in range(2))
    ours = compare.Kernel(entry["plan"], os.path.join(options.folder, f"{m}-{n}-{k}.cubin"), {"A": a, "B": b, "D": d})

    def library(name):
        def call():
            torch.backends.cuda.preferred_blas_library(name)
            torch.mm(a, b.T, out=peer)
        return call
    times = compare.alternate([ours, library("cublas"), library("cublaslt")], options.rounds, flush)
    error = ((d.float() - peer.float()).norm() / peer.float().norm()).item()
    assert error < 6e-3, f"gemm {m} x {n} x {k} differs from cuBLAS by {error}"
    first = d.clone()
    ours()
    torch.cuda.synchronize()
    assert torch.equal(first, d), f"gemm {m} x {n} x {k} is not the same twice"
    return times[0], min(times[1:]), ours.config


def measure(options):
    import compare  # needs PyTorch and the driver, which `prepare` does without
    import torch
    torch.manual_seed(0)
    flush = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    driver = compare.check(compare.cuda.cuDriverGetVersion())
    print(f"{torch.cuda.get_device_name()}, driver API {driver // 1000}.{driver % 1000 // 10}, PyTorch {torch.__version__}, "
          f"medians of {options.rounds} rounds\n")
    print("| M x N x K | us | TFLOP/s | GB/s | the better library, us | ratio | configuration |\n|---|---:|---:|---:|---:|---:|---|")
    ratios = {}
    with open(os.path.join(options.folder, "plans.json"), encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        m, n, k = entry["problem"]
        ours, peer, config = timed(compare, torch, options, entry, flush)
        ratios.setdefault(entry["set"], []).append(peer / ours)
        print(f"| {m} x {n} x {k} | {ours * 1e3:.1f} | {2 * m * n * k / ours / 1e9:,.0f} | "
              f"{2 * (m * k + n * k + m * n) / ours / 1e6:,.0f} | {peer * 1e3:.1f} | {peer / ours:.3f} | "
              f"{os.path.basename(entry['plan']['file'])} {config} |", flush=True)
    print("\n| set | problems | geometric mean | least |\n|---|---:|---:|---:|")
    for name, values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"| {name} | {len(values)} | {mean:.3f} | {min(values):.3f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("prepare", "measure"))
    parser.add_argument("folder")
    parser.add_argument("--tma-jit", default="build/bin/tma-jit")
    parser.add_argument("--device", default="h100")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--drawn", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    prepare(options) if options.verb == "prepare" else measure(options)


if __name__ == "__main__":
    main()
