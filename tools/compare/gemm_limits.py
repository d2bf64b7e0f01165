#!/usr/bin/env python3
"""What bounds products: counters, power and clocks of ours and of the vendor's kernel.

    tools/compare/gemm_limits.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200]
    tools/compare/gemm_limits.py measure FOLDER [--rounds 11]

`prepare` needs no GPU. `measure` needs one, PyTorch, the package tma_jit, nvidia-smi and ncu, whose section SpeedOfLight has the shares
of the peak at which SMs, L1, L2 and memory worked, at the clock that the device chooses and with its caches flushed. Power and clock
are of half a second in the middle of a second of launches without a pause. The ceiling of a product is the longer of its operations at
4096 (bf16) or 8192 (e4m3) a cycle and SM at 1755 MHz, the clock of the data sheet's peak, and of its bytes at the rate of a copy of
1 GiB, and 2.7 us, which an empty kernel takes between the same events.
"""
import csv
import io
import os
import subprocess
import sys
import time

from command_line import parser_of, run, target
from gemm import MODELS
from prepared import prepare as build, read_plans

SHORT = [(936, 1056, 264), (512, 512, 512), (4208, 296, 760), (2248, 3040, 1296), (248, 80, 38720), (6528, 128, 256), (73, 5760, 3584)]
EXACT = [(8192, 8192, 8192), (5000, 5120, 2880), (512, 4096, 7168)]
LONG = 1e12    # operations of a product whose power and clock are measured
EMPTY = 2.7e-3  # milliseconds
METRICS = {"Compute (SM) Throughput": "SM", "L1/TEX Cache Throughput": "L1", "L2 Cache Throughput": "L2", "DRAM Throughput": "memory"}


def prepare(options):
    entries = []
    for problem, words in [(p, []) for p in MODELS + SHORT] + [(p, ["T=e4m3"]) for p in EXACT]:
        file = f"{len(entries)}.cubin"
        request = ["gemm", *(f"{dim}={extent}" for dim, extent in zip("MNK", problem)), *words, *target(options)]
        entries.append({"problem": problem, "words": words, "file": file,
                        "plan": build(options.tma_jit, request, os.path.join(options.folder, file))})
    return entries


def sides(compare, torch, folder, entry):
    """Calls of ours and of PyTorch's."""
    m, n, k = entry["problem"]
    narrow = bool(entry["words"])
    a, b = (torch.randn(rows, k, device="cuda").to(torch.float8_e4m3fn if narrow else torch.bfloat16) for rows in (m, n))
    d, peer = (torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    ours = compare.Kernel(entry["plan"], os.path.join(folder, entry["file"]), {"A": a, "B": b, "D": d})
    if narrow:
        one = torch.ones((), device="cuda")
        return ours, lambda: torch._scaled_mm(a, b.T, one, one, out_dtype=torch.bfloat16, out=peer)
    torch.backends.cuda.preferred_blas_library("cublaslt")
    return ours, lambda: torch.mm(a, b.T, out=peer)


def launch(folder):
    """What ncu watches: each side of each problem once."""
    import compare
    import torch
    for entry in read_plans(folder):
        for side in sides(compare, torch, folder, entry):
            torch.cuda.synchronize()
            torch.cuda.cudart().cudaProfilerStart()
            side()
            torch.cuda.synchronize()
            torch.cuda.cudart().cudaProfilerStop()


def counters(folder):
    """The shares of each launch, in the order of the launches: one, or of a vendor's two kernels the longer one's."""
    output = subprocess.check_output(
        ["ncu", "--csv", "--section", "SpeedOfLight", "--clock-control", "none", "--profile-from-start", "off", "--print-units", "base",
         sys.executable, os.path.abspath(__file__), "launch", folder], text=True)
    launches = {}
    for row in csv.DictReader(io.StringIO(output[output.index('"ID"'):])):
        launches.setdefault(int(row["ID"]), {"name": row["Kernel Name"]})[row["Metric Name"]] = row["Metric Value"]
    return [launches[key] for key in sorted(launches)]


def sustained(torch, side):
    """Watts and MHz while the side is launched for a second without a pause."""
    watch = subprocess.Popen(["nvidia-smi", "--query-gpu=power.draw.instant,clocks.sm", "--format=csv,noheader,nounits", "-lms", "50"],
                             stdout=subprocess.PIPE, text=True)
    begin = time.monotonic()
    while time.monotonic() - begin < 1:
        for _ in range(4):
            side()
        torch.cuda.synchronize()
    watch.terminate()
    samples = [tuple(map(float, line.split(","))) for line in watch.communicate()[0].splitlines() if line.count(",") == 1]
    middle = samples[len(samples) // 4:3 * len(samples) // 4] or samples
    return tuple(sum(column) / len(middle) for column in zip(*middle))


def shares(launched):
    return " / ".join(f"{float(launched[metric].replace(',', '')):.0f}" for metric in METRICS)


def measure(compare, torch, options, entries, flush):
    copy = torch.empty(1 << 29, dtype=torch.uint8, device="cuda")
    bandwidth = 2 * copy.numel() / compare.alternate([lambda: flush[:copy.numel()].copy_(copy)], options.rounds, flush)[0]
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    launched = counters(options.folder)
    ours_of = [i for i, one in enumerate(launched) if one["name"].startswith("gemm")] + [len(launched)]
    print(f"Shares in percent of {', '.join(METRICS.values())}\n\n| M x N x K | us | of the ceiling | peer, us | shares | peer's | W, MHz | peer's |\n"
          "|---|---:|---:|---:|---|---|---|---|")
    for number, entry in enumerate(entries):
        work = entry["plan"]["work"]
        ours, peer = sides(compare, torch, options.folder, entry)
        mine, theirs = compare.alternate([ours, peer], options.rounds, flush)
        operations = processors * 1755e3 * (8192 if entry["words"] else 4096)
        ceiling = max(work["flops"] / operations, work["bytes"] / bandwidth) + EMPTY
        first, following = ours_of[number], ours_of[number + 1]
        vendors = max(launched[first + 1:following], key=lambda one: float(one["Duration"].replace(",", "")), default=None)
        power = ["", ""]
        if work["flops"] >= LONG:
            power = ["{:.0f}, {:.0f}".format(*sustained(torch, side)) for side in (ours, peer)]
        print(f"| {' x '.join(map(str, entry['problem']))}{' e4m3' if entry['words'] else ''} | {mine * 1e3:.1f} | {ceiling / mine:.3f} | "
              f"{theirs * 1e3:.1f} | {shares(launched[first])} | {shares(vendors) if vendors else ''} | {power[0]} | {power[1]} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["launch"]:
        launch(sys.argv[2])
    else:
        run(parser_of(__doc__, rounds=11).parse_args(), prepare, measure)
