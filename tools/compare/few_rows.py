#!/usr/bin/env python3
"""gemm with 1 to 64 rows over projections of transformers, beside cuBLAS, cuBLASLt and a copy of as many bytes as B has.

    tools/compare/few_rows.py prepare FOLDER [--type e4m3] [--tma-jit build/bin/tma-jit] [--device h200] [--variant 'BN=16 STEPS=4' ...] [--sweep]
    tools/compare/few_rows.py measure FOLDER [--rounds 20]

`prepare` needs no GPU: it plans and builds every problem for a named device, as it is planned, and again with the params of each
variant (`--sweep`: of some of every kind) for which gemm_few_rows has a configuration. `measure` runs them where there is a GPU, with
PyTorch and the package tma_jit, by the method of compare.py; the peer is the better of PyTorch's two libraries, for e4m3 the fastest of
cuBLASLt's first eight choices with exact and with fast sums each. `--file STEM` adds what that file has for a problem. The copy is
the driver's from device to device over half of B's bytes, so that it moves as many bytes as B has; `of a copy` is its time over ours.
`of 1 GiB` is the rate at which we read B over the rate at which a copy of 1 GiB moves bytes.
"""
import json
import os
import subprocess

from command_line import parser_of, run, target
from cublaslt import CublasLt
from ratios import mean_and_least

# N and K of the projections for queries, keys and values together, of the output, up and gate together, and down: Llama 3 8B, Qwen3
# 14B and Llama 3 70B, by their published configurations.
PROJECTIONS = [(6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336),
               (7168, 5120), (5120, 5120), (34816, 5120), (5120, 17408),
               (10240, 8192), (8192, 8192), (57344, 8192), (8192, 28672)]
ROWS = [1, 2, 4, 8, 16, 32, 64]
FEW = 16  # rows that gemm_few_rows takes
SHAPES = ["BN=16 WARPS=8 STEPS=2 RING=0", "BN=16 WARPS=8 STEPS=3 RING=0", "BN=16 WARPS=8 STEPS=4 RING=0", "BN=16 WARPS=4 STEPS=4 RING=0",
          "BN=16 WARPS=16 STEPS=2 RING=0", "BN=16 WARPS=8 STEPS=4 RING=1", "BN=16 WARPS=4 STEPS=8 RING=1", "BN=32 WARPS=8 STEPS=2 RING=0",
          "BN=32 WARPS=4 STEPS=3 RING=0", "BN=32 WARPS=8 STEPS=2 RING=0 SPLIT=2", "BN=32 WARPS=4 STEPS=4 RING=1",
          "BN=32 WARPS=4 STEPS=4 RING=1 SPLIT=2", "BN=64 WARPS=4 STEPS=2 RING=0", "BN=64 WARPS=4 STEPS=2 RING=0 SPLIT=2",
          "BN=64 WARPS=4 STEPS=2 RING=0 SPLIT=4", "BN=64 WARPS=4 STEPS=2 RING=1 SPLIT=2"]
SWEEP = [shape + " BLOCKS=1 CHUNKS=1" + ("" if "SPLIT" in shape else " SPLIT=1") for shape in SHAPES]


def planned(options, request):
    """The plan, or None if there is no configuration."""
    plan = subprocess.run([options.tma_jit, "plan", *request, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return json.loads(plan.stdout) if plan.returncode == 0 else None


def built(options, request, plan):
    """The file name of the kernel, which problems of one configuration share."""
    words = [os.path.basename(plan["file"]).removesuffix(".cu"), *(f"{k}{v}" for k, v in plan["config"].items())]
    name = "-".join(words) + ".cubin"
    path = os.path.join(options.folder, name)
    if not os.path.exists(path):
        subprocess.check_output([options.tma_jit, "build", *request, "-o", path])
    return name


def prepare(options):
    entries = []
    for m in ROWS:
        for n, k in PROJECTIONS:
            words = ["gemm", f"M={m}", f"N={n}", f"K={k}", f"T={options.type}", *target(options)]
            requests = {"planned": words}
            requests |= {file: [*words, "--template-file", file] for file in options.file}
            if m <= FEW:
                requests |= {variant: [*words, *variant.split(), "--template-file", "gemm_few_rows"] for variant in options.variant}
            sides = []
            for variant, request in requests.items():
                plan = planned(options, request)
                if plan:
                    sides.append({"variant": variant, "plan": plan, "cubin": built(options, request, plan)})
            entries.append({"problem": [m, n, k], "type": options.type, "sides": sides})
    return entries


def library_calls(compare, torch, a, b, d, flush):
    """Two calls of libraries: PyTorch's two of bf16, or the two fastest choices of cuBLASLt for e4m3."""
    if b.dtype == torch.bfloat16:
        def library(name):
            torch.backends.cuda.preferred_blas_library(name)
            torch.mm(a, b.T, out=d)
        return [lambda: library("cublas"), lambda: library("cublaslt")]
    choices = [call for fast in (False, True) for call in CublasLt(torch, a, b, d, fast).heuristics(8)]
    return compare.fastest(choices, 2, 3, flush)


def timed(compare, torch, options, entry, b, flush):
    """Milliseconds of each variant, of the better library and of the copy."""
    m, n, k = entry["problem"]
    a = torch.randn(m, k, device="cuda").to(b.dtype)
    d, peer = (compare.poisoned(torch.empty(m, n, device="cuda", dtype=torch.bfloat16)) for _ in range(2))
    peers = library_calls(compare, torch, a, b, peer, flush)
    peers[0]()
    ours = []
    for side in entry["sides"]:
        ours.append(compare.Kernel(side["plan"], os.path.join(options.folder, side["cubin"]), {"A": a, "B": b, "D": d}))
        ours[-1]()
        torch.cuda.synchronize()
        error = compare.difference(d, peer)
        assert error < 6e-3, f"gemm {m} x {n} x {k}, {side['variant']}: differs from cuBLAS by {error}"
        first = d.clone()
        compare.poisoned(d)
        ours[-1]()
        torch.cuda.synchronize()
        assert torch.equal(first, d), f"gemm {m} x {n} x {k}, {side['variant']}: not the same twice"
    source, target = (torch.empty(b.nbytes // 2, dtype=torch.uint8, device="cuda") for _ in range(2))
    sides = [*ours, *peers, lambda: target.copy_(source)]
    times = compare.alternate(sides, options.rounds, flush)
    return times[:len(ours)], min(times[-3:-1]), times[-1]


def copy_rate(compare, torch, options, flush):
    """Bytes a millisecond that a copy of 1 GiB reads and writes."""
    source, target = (torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(2))
    return 2 * source.numel() / compare.alternate([lambda: target.copy_(source)], options.rounds, flush)[0]


def measure(compare, torch, options, entries, flush):
    rate = copy_rate(compare, torch, options, flush)
    print(f"A copy of 1 GiB moves {rate / 1e6:,.0f} GB/s.\n")
    print("| M x N x K | variant | us | GB/s of B | of a copy | of 1 GiB | the better library, us | ratio | configuration |\n"
          "|---|---|---:|---:|---:|---:|---:|---:|---|")
    shares = {}
    weights = {}
    for entry in sorted(entries, key=lambda entry: entry["problem"][1:]):
        m, n, k = entry["problem"]
        if (n, k) not in weights:
            dtype = {"bf16": torch.bfloat16, "e4m3": torch.float8_e4m3fn}[entry["type"]]
            weights = {(n, k): torch.randn(n, k, device="cuda").to(dtype)}
        read = weights[n, k].nbytes
        ours, peer, copy = timed(compare, torch, options, entry, weights[n, k], flush)
        for side, time in sorted(zip(entry["sides"], ours), key=lambda pair: pair[1]):
            plan = side["plan"]
            shares.setdefault((side["variant"], m), []).append((copy / time, read / time / rate, peer / time))
            options.pictured.add(f"{side['variant']}, {m} rows", plan, time, {"the better library": peer, "a copy": copy})
            print(f"| {m} x {n} x {k} | {side['variant']} | {time * 1e3:.1f} | {read / time / 1e6:,.0f} | {copy / time:.3f} | "
                  f"{read / time / rate:.3f} | {peer * 1e3:.1f} | {peer / time:.3f} | "
                  f"{os.path.basename(plan['file'])} {' '.join(f'{k}={v}' for k, v in plan['config'].items())} |", flush=True)
    print("\n| variant | M | problems | of a copy: geometric mean, least | of 1 GiB | of the better library |\n|---|---:|---:|---:|---:|---:|")
    for (variant, m), values in sorted(shares.items()):
        print(f"| {variant} | {m} | {len(values)} | {' | '.join(map(mean_and_least, zip(*values)))} |")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--type", choices=("bf16", "e4m3"), default="bf16", help="of `prepare`: of A and B")
    parser.add_argument("--file", action="append", default=[], help="of `prepare`: template file to measure too")
    parser.add_argument("--variant", action="append", default=[], help="of `prepare`: params of gemm_few_rows to measure too")
    parser.add_argument("--sweep", action="store_true", help="of `prepare`: measure variants of every kind")
    options = parser.parse_args()
    options.variant += SWEEP if options.sweep else []
    run(options, prepare, measure)


if __name__ == "__main__":
    main()
