#!/usr/bin/env python3
"""Our kernels beside their peers, timed in turn in one process.

    tools/compare/compare.py [--tma-jit build/bin/tma-jit] [--rounds 30]

Needs a GPU, PyTorch (its cuBLAS is the peer of gemm, its add the peer of map) and the package tma_jit, installed or in
build/python. Kernels come from the tma-jit command, as in a comparison that is prepared where there is no GPU: `plan --json`
says how to launch, `build -o` gives the cubin, and the package loads and launches them. Method: random normal data; before every
timed launch 1 GiB is overwritten, which flushes L2 and keeps the queue ahead of the host; outputs are poisoned before and checked
after; the sides alternate in every round; medians of device events.
"""
import argparse
import os
import statistics
import sys
import tempfile

import torch

from package import tma_jit
from prepared import prepare

ENGINE = tma_jit.Engine(use_cache=False)


class Kernel:
    """One planned and built launch of ours on given tensors, which it keeps. It runs on PyTorch's current stream."""

    @classmethod
    def of(cls, command, request, tensors):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernel.cubin")
            return cls(prepare(command, request, path), path, tensors)

    def __init__(self, plan, path, tensors, scalars=None):
        self.config = " ".join(f"{k}={v}" for k, v in plan["config"].items())
        self.work = plan["work"]
        self.keep = tensors
        named = {argument["name"] for argument in plan["arguments"] if argument["kind"] == "scalar"}
        values = {name: value for name, value in (scalars or {}).items() if name in named}
        self.launch = ENGINE.load(plan, path, tensors=dict(placed(plan, tensors)), scalars=values)

    def __call__(self):
        self.launch(torch.cuda.current_stream())


def placed(plan, tensors):
    """The memory of each tensor as the plan sees it, whatever PyTorch's type and shape: rows may be flattened, fp4 be bytes."""
    for argument in plan["arguments"]:
        if argument.get("present") and tensors.get(argument["name"]) is not None:
            address = tensors[argument["name"]].data_ptr()
            yield argument["name"], tma_jit.Tensor.at(address, argument["dtype"], argument["shape"], argument["strides"])


def start(rounds):
    """Seeds PyTorch, prints what measures, and returns the 1 GiB that is overwritten before every timed launch."""
    torch.manual_seed(0)
    print(f"{torch.cuda.get_device_name()}, driver API {ENGINE.environment()['driver']['cuda']}, PyTorch {torch.__version__}, "
          f"cuDNN {torch.backends.cudnn.version()}, medians of {rounds} rounds\n")
    return torch.empty(1 << 30, dtype=torch.uint8, device="cuda")


def alternate(sides, rounds, flush, warmed=()):
    """Median milliseconds of each side. The tensors `warmed` are read after L2 is flushed."""
    times = [[] for _ in sides]
    for side in sides:
        side()
        side()
    for _ in range(rounds):
        for side, samples in zip(sides, times):
            flush.zero_()
            for tensor in warmed:
                tensor.sum()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            side()
            end.record()
            end.synchronize()
            samples.append(begin.elapsed_time(end))
    return [statistics.median(samples) for samples in times]


def fastest(sides, count, rounds, flush):
    """The `count` sides with the least median, the fastest first."""
    times = alternate(sides, rounds, flush)
    return [sides[i] for i in sorted(range(len(sides)), key=times.__getitem__)[:count]]


def row(name, ours, peer_name, times, amount, unit):
    mine, peer = (amount / t for t in times)
    print(f"| {name} | {mine:,.0f} {unit} | {peer_name} {peer:,.0f} {unit} | {times[1] / times[0]:.3f} | {ours.config} |", flush=True)


def poisoned(tensor):
    return tensor.fill_(float("nan"))


def difference(result, expected):
    """The norm of the difference in f32, relative to that of what is expected."""
    expected = expected.float()
    return ((result.float() - expected).norm() / expected.norm()).item()


def compare_gemm(options, flush, m, n, k, extra=()):
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
    d, peer = (poisoned(torch.empty(m, n, device="cuda", dtype=torch.bfloat16)) for _ in range(2))
    ours = Kernel.of(options.tma_jit, ["gemm", f"M={m}", f"N={n}", f"K={k}", *extra], {"A": a, "B": b, "D": d})
    times = alternate([ours, lambda: torch.mm(a, b.T, out=peer)], options.rounds, flush)
    error = difference(d, peer)
    assert error < 4e-3, f"gemm {m}x{n}x{k} differs from cuBLAS by {error}"
    row(f"gemm bf16 {m} x {n} x {k}{' ' + ' '.join(extra) if extra else ''}", ours, "cuBLAS", times, ours.work["flops"] / 1e9, "TFLOP/s")


def compare_gemm_e4m3(options, flush, size, fast):
    a, b = (torch.randn(size, size, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    d = poisoned(torch.empty(size, size, device="cuda", dtype=torch.bfloat16))
    one, peer = torch.ones((), device="cuda"), []
    words = ["gemm", f"M={size}", f"N={size}", f"K={size}", "T=e4m3", f"FAST={int(fast)}"]
    ours = Kernel.of(options.tma_jit, words, {"A": a, "B": b, "D": d})

    def scaled_mm():
        peer[:] = [torch._scaled_mm(a, b.T, one, one, out_dtype=torch.bfloat16, use_fast_accum=fast)]
    times = alternate([ours, scaled_mm], options.rounds, flush)
    exact = a[:128].double() @ b.double().T
    errors = [((got[:128].double() - exact).norm() / exact.norm()).item() for got in (d, peer[0])]
    assert errors[0] < 1.1 * errors[1], f"gemm e4m3 {size}: error {errors[0]}, cuBLAS {errors[1]}"
    row(f"gemm e4m3 {size} x {size} x {size}, {'fast' if fast else 'exact'} sums, errors {errors[0]:.2e} and {errors[1]:.2e}", ours,
        "cuBLAS", times, ours.work["flops"] / 1e9, "TFLOP/s")


def compare_copy(options, flush, bytes_):
    n = bytes_ // 4
    source = torch.randn(n, device="cuda")
    to, peer = (poisoned(torch.empty_like(source)) for _ in range(2))
    ours = Kernel.of(options.tma_jit, ["copy", f"N={n}", "T=f32"], {"S": source, "D": to})
    times = alternate([ours, lambda: peer.copy_(source)], options.rounds, flush)
    assert torch.equal(to, source)
    row(f"copy {bytes_ >> 20} MiB", ours, "cudaMemcpyAsync", times, ours.work["bytes"] / 1e6, "GB/s")


def compare_copy_rows(options, flush, rows, columns, file):
    source = torch.randn(rows, columns, device="cuda")
    to, peer = (poisoned(torch.empty_like(source)) for _ in range(2))
    ours = Kernel.of(options.tma_jit, ["copy", f"M={rows}", f"N={columns}", "T=f32", "--template-file", file],
                  {"S": source, "D": to})
    times = alternate([ours, lambda: peer.copy_(source)], options.rounds, flush)
    assert torch.equal(to, source)
    row(f"copy {rows} x {columns} f32", ours, "torch copy_", times, ours.work["bytes"] / 1e6, "GB/s")


def compare_gather(options, flush, rows, columns, count):
    source = torch.randn(rows, columns, device="cuda")
    index = torch.randint(rows, (count,), device="cuda", dtype=torch.int32)
    to, peer = (poisoned(torch.empty(count, columns, device="cuda")) for _ in range(2))
    ours = Kernel.of(options.tma_jit, ["gather", f"R={rows}", f"N={columns}", f"COUNT={count}", "T=f32"], {"S": source, "I": index, "D": to})
    times = alternate([ours, lambda: torch.index_select(source, 0, index, out=peer)], options.rounds, flush)
    assert torch.equal(to, peer)
    row(f"gather {count} of {rows} x {columns} f32", ours, "torch.index_select", times, ours.work["bytes"] / 1e6, "GB/s")


def compare_map(options, flush, bytes_):
    n = bytes_ // 4
    a, b = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    y, peer = (poisoned(torch.empty_like(a)) for _ in range(2))
    ours = Kernel.of(options.tma_jit, ["map", f"N={n}", "INPUTS=2", "--hook", "apply=a + b"], {"A": a, "B": b, "Y": y})
    times = alternate([ours, lambda: torch.add(a, b, out=peer)], options.rounds, flush)
    assert torch.equal(y, peer)
    row(f"map a + b, f32, {bytes_ >> 20} MiB", ours, "torch.add", times, ours.work["bytes"] / 1e6, "GB/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tma-jit", default="build/bin/tma-jit")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--all", action="store_true", help="more shapes, the gemms without wgmma or TMA, and gather")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("compare.py needs a GPU")
    flush = start(options.rounds)
    print("| problem | tma-jit | peer | ratio | configuration |\n|---|---|---|---|---|")
    for size in (4096, 8192):
        compare_gemm(options, flush, size, size, size)
    compare_copy(options, flush, 1 << 30)
    compare_map(options, flush, 1 << 30)
    if options.all:
        for m, n, k in ((1024, 1024, 1024), (2048, 2048, 2048), (16384, 16384, 16384), (4096, 14336, 4096), (4096, 4096, 14336),
                        (512, 4096, 7168), (128, 7168, 4096), (64, 8192, 8192), (16, 8192, 8192), (2048, 7168, 2048), (5000, 5120, 2880)):
            compare_gemm(options, flush, m, n, k)
        for size in (4096, 8192):
            compare_gemm(options, flush, size, size, size, ("--template-file", "gemm_mma", "--limits", "gb10"))
            compare_gemm(options, flush, size, size, size, ("--disable-tma",))
        for size in (4096, 8192):
            for fast in (False, True):
                compare_gemm_e4m3(options, flush, size, fast)
        compare_copy_rows(options, flush, 16384, 16384, "copy_tiled")
        compare_copy_rows(options, flush, 16384, 16301, "copy_rows")
        compare_gather(options, flush, 1 << 20, 1024, 1 << 18)
        for mib in (64, 256):
            compare_copy(options, flush, mib << 20)
            compare_map(options, flush, mib << 20)


if __name__ == "__main__":
    main()
