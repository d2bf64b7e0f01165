#!/usr/bin/env python3
"""gemm with a bias and gelu fused, beside the vendor's way of doing so.

    tools/compare/gemm_fused.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200]
    tools/compare/gemm_fused.py measure FOLDER [--rounds 20]

`gelu_tanh(x + bias[column])` beside cuBLASLt's epilogue of the same, as PyTorch calls it (torch._addmm_activation). `prepare` needs no GPU. `measure` works by the
method of compare.py; both sides start with L2 flushed.
"""
import os

from command_line import parser_of, run, target
from prepared import prepare as build
from ratios import mean_and_least

BIASED = [(1024,) * 3, (2048,) * 3, (4096,) * 3, (8192,) * 3, (4096, 14336, 4096), (4096, 4096, 14336), (512, 4096, 7168),
          (128, 7168, 4096), (2048, 7168, 2048), (64, 8192, 8192), (4096, 4096, 1024)]
GELU = ["--operand", "bias : bf16[N]", "--hook", "epilogue=gelu_tanh(x + bias[column])"]


def prepare(options):
    entries = []
    for problem in BIASED:
        file = f"{len(entries)}.cubin"
        request = ["gemm", *(f"{dim}={extent}" for dim, extent in zip("MNK", problem)), *GELU, *target(options)]
        entries.append({"problem": problem, "file": file, "plan": build(options.tma_jit, request, os.path.join(options.folder, file))})
    return entries


def compare_biased(compare, torch, options, entry, flush):
    m, n, k = entry["problem"]
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
    bias, d = torch.randn(n, device="cuda").bfloat16(), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    ours = compare.Kernel(entry["plan"], os.path.join(options.folder, entry["file"]), {"A": a, "B": b, "D": compare.poisoned(d), "bias": bias})
    ours()
    wanted = torch.nn.functional.gelu(a.float() @ b.float().T + bias.float(), approximate="tanh")
    error = compare.difference(d, wanted)
    assert error < 6e-3, f"gelu of {entry['problem']} differs by {error}"
    return compare.alternate([ours, lambda: torch._addmm_activation(bias, a, b.T, use_gelu=True)], options.rounds, flush)


def measure(compare, torch, options, entries, flush):
    print("| bias and gelu: M x N x K | us | peer, us | ratio |\n|---|---:|---:|---:|")
    ratios = []
    for entry in entries:
        mine, peer = compare_biased(compare, torch, options, entry, flush)
        ratios.append(peer / mine)
        print(f"| {' x '.join(map(str, entry['problem']))} | {mine * 1e3:.1f} | {peer * 1e3:.1f} | {peer / mine:.3f} |")
    print(f"| geometric mean, least | | | {mean_and_least(ratios)} |", flush=True)


if __name__ == "__main__":
    run(parser_of(__doc__).parse_args(), prepare, measure)
