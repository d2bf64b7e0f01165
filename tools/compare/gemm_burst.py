#!/usr/bin/env python3
"""A short burst of large products on a cool device, before its clock falls: ours and cuBLAS's in turn, with a pause before each.

    tools/compare/gemm_burst.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200]
    tools/compare/gemm_burst.py measure FOLDER [--rounds 4] [--pause 1.5]

`prepare` needs no GPU. A burst is 8 launches one after the other.
"""
import os
import statistics
import time

from command_line import parser_of, run, target
from prepared import prepare as build

SIZE, LAUNCHES = 8192, 8


def prepare(options):
    request = ["gemm", f"M={SIZE}", f"N={SIZE}", f"K={SIZE}", *options.params.split(), *target(options)]
    return [{"plan": build(options.tma_jit, request, os.path.join(options.folder, "burst.cubin"))}]


def burst(torch, side, pause):
    """Milliseconds of a launch, of LAUNCHES."""
    time.sleep(pause)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(LAUNCHES):
        side()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / LAUNCHES


def measure(compare, torch, options, entries, flush):
    a, b = (torch.randn(SIZE, SIZE, device="cuda").bfloat16() for _ in range(2))
    d, peer = (compare.poisoned(torch.empty(SIZE, SIZE, device="cuda", dtype=torch.bfloat16)) for _ in range(2))
    ours = compare.Kernel(entries[0]["plan"], os.path.join(options.folder, "burst.cubin"), {"A": a, "B": b, "D": d})
    sides = [ours, lambda: torch.mm(a, b.T, out=peer)]
    times = [[], []]
    for side in sides:
        side()
    for i in range(2 * options.rounds):  # each side first in turn
        for j in (0, 1):
            times[(i + j) % 2].append(burst(torch, sides[(i + j) % 2], options.pause))
    error = compare.difference(d, peer)
    assert error < 4e-3, f"differs from cuBLAS by {error}"
    mine, theirs = map(statistics.median, times)
    print(f"| {SIZE} x {SIZE} x {SIZE}, {LAUNCHES} launches | {2 * SIZE ** 3 / mine / 1e9:.0f} TFLOP/s | cuBLAS {2 * SIZE ** 3 / theirs / 1e9:.0f} | "
          f"{theirs / mine:.3f} | {ours.config} |")


def main():
    parser = parser_of(__doc__, rounds=4)
    parser.add_argument("--pause", type=float, default=1.5, help="of `measure`: seconds before each burst")
    parser.add_argument("--params", default="", help="of `prepare`: words of the request, such as params")
    run(parser.parse_args(), prepare, measure)


if __name__ == "__main__":
    main()
