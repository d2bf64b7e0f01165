#!/usr/bin/env python3
"""gemm beside a kernel that holds some of the SMs, as one of a communication library does, and cuBLAS in the same state.

    tools/compare/gemm_beside.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200] [--taken 20]
    tools/compare/gemm_beside.py measure FOLDER [--rounds 20]

`prepare` needs no GPU. Ours is planned for all SMs, for those that are left (--sm-budget), for all with tiles that blocks draw
(DYNAMIC=1), and with both; the peer is the better of PyTorch's two libraries, which are told nothing. Each is timed alone and while
occupy.cu holds the SMs in another stream. Ratios are the peer's time over ours in the same state.
"""
import os
import time

from command_line import parser_of, run, target
from prepared import prepare as build

HERE = os.path.dirname(os.path.abspath(__file__))
PROBLEMS = [(4096, 4096, 4096), (8192, 8192, 8192), (4096, 14336, 4096), (4096, 4096, 14336), (2048, 7168, 2048), (2048, 2048, 2048)]
SECONDS = 20


def prepare(options):
    sms = 132  # of an H100 and an H200
    budget = ["--sm-budget", str(sms - options.taken)]
    ways = {"all": [], "budget": budget, "drawn": ["DYNAMIC=1"], "both": ["DYNAMIC=1", *budget]}
    occupy = build(options.tma_jit, [os.path.join(HERE, "occupy.cu"), f"BLOCKS={options.taken}", f"SECONDS={SECONDS}", *target(options)],
                   os.path.join(options.folder, "occupy.cubin"))
    entries = [{"taken": options.taken, "occupy": occupy}]
    for m, n, k in PROBLEMS:
        plans = {}
        for name, words in ways.items():
            file = f"{name}{m}x{n}x{k}.cubin"
            plans[name] = [build(options.tma_jit, ["gemm", f"M={m}", f"N={n}", f"K={k}", *words, *target(options)],
                                 os.path.join(options.folder, file)), file]
        entries.append({"problem": (m, n, k), "plans": plans})
    return entries


class Occupied:
    """While it is entered, a kernel in another stream holds SMs."""

    def __init__(self, compare, torch, options, entry):
        self.torch, self.taken = torch, entry["taken"]
        self.stop, self.started = (torch.zeros(1, dtype=torch.int32, device="cuda") for _ in range(2))
        self.streams = [torch.cuda.Stream() for _ in range(2)]
        self.seen = torch.zeros(1, dtype=torch.int32).pin_memory()
        self.kernel = compare.Kernel(entry["occupy"], os.path.join(options.folder, "occupy.cubin"),
                                     {"STOP": self.stop, "STARTED": self.started})

    def __enter__(self):
        self.stop.zero_(), self.started.zero_()
        self.torch.cuda.synchronize()
        with self.torch.cuda.stream(self.streams[0]):
            self.kernel()
        while self.seen_blocks() < self.taken:
            time.sleep(1e-4)

    def seen_blocks(self):
        with self.torch.cuda.stream(self.streams[1]):
            self.seen.copy_(self.started, non_blocking=True)
        self.streams[1].synchronize()
        return self.seen.item()

    def __exit__(self, *_):
        assert not self.streams[0].query(), "the SMs were free before the measurement ended"
        with self.torch.cuda.stream(self.streams[1]):
            self.stop.fill_(1)
        self.torch.cuda.synchronize()


def measure(compare, torch, options, entries, flush):
    taken = entries[0]["taken"]
    occupied = Occupied(compare, torch, options, entries[0])
    print(f"| M x N x K | peer alone, us | ours alone: all, budget, drawn, both | peer beside {taken} SMs, us | ours beside: the same |\n"
          "|---|---:|---:|---:|---:|")

    def library(name, call):
        def use():
            torch.backends.cuda.preferred_blas_library(name)
            call()
        return use
    for entry in entries[1:]:
        m, n, k = entry["problem"]
        a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
        d, peer = (compare.poisoned(torch.empty(m, n, device="cuda", dtype=torch.bfloat16)) for _ in range(2))
        ours = [compare.Kernel(plan, os.path.join(options.folder, file), {"A": a, "B": b, "D": d})
                for plan, file in entry["plans"].values()]
        sides = [*ours, *(library(name, lambda: torch.mm(a, b.T, out=peer)) for name in ("cublas", "cublaslt"))]
        cells = []
        alone = compare.alternate(sides, options.rounds, flush)
        with occupied:
            beside = compare.alternate(sides, options.rounds, flush)
        for kernel in ours:
            compare.poisoned(d)
            with occupied:
                kernel()
                torch.cuda.current_stream().synchronize()
            error = compare.difference(d, peer)
            assert error < 4e-3, f"{m} x {n} x {k} differs from cuBLAS by {error}"
        for times in (alone, beside):
            best = min(times[len(ours):])
            cells += [f"{best * 1e3:.1f}", ", ".join(f"{best / time:.3f}" for time in times[:len(ours)])]
        print(f"| {m} x {n} x {k} | {' | '.join(cells)} |", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--taken", type=int, default=20, help="of `prepare`: SMs that the other kernel holds")
    run(parser.parse_args(), prepare, measure)


if __name__ == "__main__":
    main()
