#!/usr/bin/env python3
"""Kernels that are bound by memory, beside PyTorch and beside a copy of as many bytes.

    tools/compare/memory.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200] [--only WORD] [--small]
    tools/compare/memory.py measure FOLDER [--rounds 20] [--compile]

`prepare` needs no GPU: it plans and builds every problem for a named device. `measure` runs them where there is one, with
PyTorch and the package tma_jit, by the method of compare.py. Two peers stand in each row: the copy, which is the
driver's from device to device over half of the problem's bytes and so reads and writes all of them, and PyTorch's fastest way
to the same result. Results are compared with PyTorch's. The problems of `prepare --small` have at most 1 MiB; each side is a CUDA graph of
twenty launches, and its time that of one, with L2 as the launch before left it.
"""
import os

import prepared
from command_line import parser_of, run, target
from memory_problems import PROBLEMS, SMALL
from problem import TORCH
from ratios import print_shares


LAUNCHES = 20  # of a graph


def prepare(options):
    plans = {}
    for name, problem in (SMALL if options.small else PROBLEMS).items():
        if options.only in name:
            words = [*problem.request.split(), *target(options)]
            plans[name] = prepared.prepare(options.tma_jit, words, os.path.join(options.folder, f"{len(plans)}.cubin"))
    return plans


def tensors_of(torch, problem):
    """The inputs and the poisoned outputs, by their names."""
    def make(spec, fill):
        return spec(torch) if callable(spec) else fill(getattr(torch, TORCH[spec[0]]), spec[1])
    inputs = {name: make(spec, lambda dtype, shape: torch.randn(shape, device="cuda").to(dtype))
              for name, spec in problem.inputs.items()}
    outputs = {name: make(spec, lambda dtype, shape: torch.empty(shape, device="cuda", dtype=dtype))
               for name, spec in problem.outputs.items()}
    for output in outputs.values():
        output.view(torch.uint8).fill_(0xFF)
    return inputs, outputs


def copy_of(torch, plan):
    """The driver's copy of half of the bytes that the plan reads and writes."""
    half = max(int(plan["work"]["bytes"]) // 2, 16)
    source, target = (torch.empty(half, dtype=torch.uint8, device="cuda") for _ in range(2))
    return lambda: target.copy_(source)


def timed(compare, torch, options, cubin, plan, problem, flush, small):
    """Milliseconds of ours, of the copy and of PyTorch."""
    inputs, outputs = tensors_of(torch, problem)
    ours = compare.Kernel(plan, cubin, inputs | outputs, problem.scalars)
    peers = [lambda: problem.peer(torch, inputs)]
    if options.compile:
        torch.compiler.reset()  # beyond eight shapes of a function it would compile no more
        peers.append(torch.compile(peers[0], dynamic=False))
    expected = peers[0]()
    ours()
    torch.cuda.synchronize()
    for result, wanted in zip(outputs.values(), expected if isinstance(expected, tuple) else (expected,)):
        result, wanted = result.double(), wanted.double().reshape(result.shape)
        error = ((result - wanted).norm() / wanted.norm().clamp_min(1e-30)).item()
        assert error <= problem.tolerance, f"differs from PyTorch by {error}"
    del expected, wanted, result
    sides, launches = [ours, copy_of(torch, plan), *peers], 1
    if small:
        sides, launches, flush = [graph_of(torch, side) for side in sides], LAUNCHES, flush[:1]
    times = [time / launches for time in compare.alternate(sides, options.rounds, flush)]
    return times[0], times[1], min(times[2:]), ours.config


def graph_of(torch, side):
    """Launches the side LAUNCHES times."""
    side()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(LAUNCHES):
            side()
    return graph.replay


def measure(compare, torch, options, plans, flush):
    print("| problem | us | GB/s | of a copy | PyTorch, us | ratio | configuration |\n|---|---:|---:|---:|---:|---:|---|")
    ratios = {}
    for index, (name, plan) in enumerate(plans.items()):
        cubin = os.path.join(options.folder, f"{index}.cubin")
        try:
            small = name not in PROBLEMS
            ours, copy, peer, config = timed(compare, torch, options, cubin, plan, (SMALL if small else PROBLEMS)[name], flush, small)
        except (AssertionError, RuntimeError) as error:
            print(f"| {name} | failed: {error} |", flush=True)
            continue
        moved = plan["work"]["bytes"]
        ratios.setdefault(plan["kernel"], []).append((copy / ours, peer / ours))
        options.pictured.add(plan["kernel"], plan, ours, {"a copy": copy, "PyTorch": peer})
        print(f"| {name} | {ours * 1e3:.1f} | {moved / ours / 1e6:,.0f} | {copy / ours:.3f} | {peer * 1e3:.1f} | "
              f"{peer / ours:.2f} | {os.path.basename(plan['file'])} {config} |", flush=True)
        torch.cuda.empty_cache()
    print_shares("kernel", ratios)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="of `prepare`: problems whose name contains the word")
    parser.add_argument("--small", action="store_true", help="of `prepare`: small problems, as launches of a graph")
    parser.add_argument("--compile", action="store_true", help="of `measure`: torch.compile's kernel too; the better counts")
    options = parser.parse_args()
    run(options, prepare, measure)


if __name__ == "__main__":
    main()
