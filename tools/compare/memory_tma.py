#!/usr/bin/env python3
"""What TMA gains: kernels that are bound by memory as they are planned, and as they are planned with TMA_JIT_DISABLE_TMA=1.

    tools/compare/memory_tma.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200] [--only WORD]
    tools/compare/memory_tma.py measure FOLDER [--rounds 20]

Problems, tensors and method are those of memory.py, of which only problems count that have another file without TMA. Both sides and
the copy are timed in turn, and their results compared; rates are shares of the device's peak by its data sheet.
"""
import os

import prepared
from command_line import parser_of, run, target
from memory import copy_of, tensors_of
from memory_problems import PROBLEMS
from ratios import mean_and_least

PEAKS = {"H200": 4800, "H100": 3352}  # GB/s, of the SXM forms


def prepare(options):
    entries = []
    for name, problem in PROBLEMS.items():
        if options.only not in name:
            continue
        words = [*problem.request.split(), *target(options)]
        path = os.path.join(options.folder, f"{len(entries)}.cubin")
        plans = [prepared.prepare(options.tma_jit, words, path), prepared.prepare(options.tma_jit, [*words, "--disable-tma"], path + ".plain")]
        if plans[0]["file"] != plans[1]["file"]:
            entries.append({"name": name, "plans": plans})
    return entries


def agreed(torch, ours, other):
    for a, b in zip(ours, other):
        a, b = a.reshape(-1)[:1 << 24].float(), b.reshape(-1)[:1 << 24].float()
        assert ((a - b).norm() / b.norm().clamp_min(1e-30)).item() < 6e-3, "the two results differ"


def timed(compare, torch, options, entry, index, flush):
    inputs, outputs = tensors_of(torch, PROBLEMS[entry["name"]])
    path, results, sides = os.path.join(options.folder, f"{index}.cubin"), [], []
    for plan, cubin in zip(entry["plans"], (path, path + ".plain")):
        sides.append(compare.Kernel(plan, cubin, inputs | outputs, PROBLEMS[entry["name"]].scalars))
        sides[-1]()
        torch.cuda.synchronize()
        results.append([output.clone() for output in outputs.values()])
    agreed(torch, *results)
    del results
    return compare.alternate([*sides, copy_of(torch, entry["plans"][0])], options.rounds, flush)


def measure(compare, torch, options, entries, flush):
    peak = next((peak for name, peak in PEAKS.items() if name in torch.cuda.get_device_name()), None)
    assert peak, f"no peak is known of {torch.cuda.get_device_name()}"
    print("| problem | with TMA: us, of the peak | without: us, of the peak | without / with | a copy, of the peak |\n|---|---:|---:|---:|---:|")
    kinds = {}
    for index, entry in enumerate(entries):
        moved = entry["plans"][0]["work"]["bytes"]
        try:
            times = timed(compare, torch, options, entry, index, flush)
        except (AssertionError, RuntimeError) as error:
            print(f"| {entry['name']} | failed: {error} |", flush=True)
            continue
        shares = [moved / time / 1e6 / peak for time in times]
        kinds.setdefault(entry["plans"][0]["kernel"], []).append((*shares, times[1] / times[0]))
        print(f"| {entry['name']} | {times[0] * 1e3:.1f}, {shares[0]:.1%} | {times[1] * 1e3:.1f}, {shares[1]:.1%} | "
              f"{times[1] / times[0]:.3f} | {shares[2]:.1%} |", flush=True)
        torch.cuda.empty_cache()
    print("\n| kernel | problems | with TMA, of the peak: geometric mean, least | without | a copy | without / with |\n|---|---:|---:|---:|---:|---:|")
    for kernel, values in kinds.items():
        print(f"| {kernel} | {len(values)} | {' | '.join(map(mean_and_least, zip(*values)))} |")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="of `prepare`: problems whose name contains the word")
    run(parser.parse_args(), prepare, measure)


if __name__ == "__main__":
    main()
