#!/usr/bin/env python3
"""gemm with what follows it fused, beside the vendor's ways of doing so.

    tools/compare/gemm_fused.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200]
    tools/compare/gemm_fused.py measure FOLDER [--rounds 20]

`gelu_tanh(x + bias[column])` beside cuBLASLt's epilogue of the same, as PyTorch calls it (torch._addmm_activation). And the gated pair of
an MLP, `silu(A G^T) * (A U^T)`: two launches of gemm, of which the second reads the first one's result in its epilogue, beside cuBLAS and an
elementwise kernel that torch.compile makes, with two products or with one of both weights side by side, whichever is faster.
`prepare` needs no GPU. `measure` works by the method of compare.py; both sides start with L2 flushed.
"""
import os

from command_line import parser_of, run, target
from prepared import prepare as build
from ratios import mean_and_least

BIASED = [(1024,) * 3, (2048,) * 3, (4096,) * 3, (8192,) * 3, (4096, 14336, 4096), (4096, 4096, 14336), (512, 4096, 7168),
          (128, 7168, 4096), (2048, 7168, 2048), (64, 8192, 8192), (4096, 4096, 1024)]
GATED = [(1, 14336, 4096), (64, 14336, 4096), (512, 14336, 4096), (4096, 14336, 4096), (2048, 8192, 2048), (4096, 4096, 1024),
         (8192, 2048, 512)]
GELU = ["--operand", "bias : bf16[N]", "--hook", "epilogue=gelu_tanh(x + bias[column])"]
GATE = ["--operand", "gate : bf16[M, N]", "--hook", "epilogue=silu(gate[row, column]) * x"]


def prepare(options):
    entries = []

    def built(problem, name, words):
        file = f"{len(entries)}.cubin"
        request = ["gemm", *(f"{dim}={extent}" for dim, extent in zip("MNK", problem)), *words, *target(options)]
        entries.append({"problem": problem, "name": name, "file": file, "plan": build(options.tma_jit, request, os.path.join(options.folder, file))})
    for problem in BIASED:
        built(problem, "gelu", GELU)
    for problem in GATED:
        built(problem, "plain", [])
        built(problem, "gate", GATE)
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


def compare_gated(compare, torch, options, entries, flush):
    m, n, k = entries[0]["problem"]
    a = torch.randn(m, k, device="cuda").bfloat16()
    weights = torch.randn(2 * n, k, device="cuda").bfloat16()
    gate, d = (torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    tensors = [{"A": a, "B": weights[:n], "D": gate}, {"A": a, "B": weights[n:], "D": compare.poisoned(d), "gate": gate}]
    kernels = [compare.Kernel(entry["plan"], os.path.join(options.folder, entry["file"]), each) for entry, each in zip(entries, tensors)]

    @torch.compile(dynamic=False)
    def gated(g, u):
        return torch.nn.functional.silu(g) * u

    def ours():
        for kernel in kernels:
            kernel()

    def two():
        gated(a @ weights[:n].T, a @ weights[n:].T)

    def together():
        both = a @ weights.T
        gated(both[:, :n], both[:, n:])
    ours()
    product = a.float() @ weights.float().T
    error = compare.difference(d, torch.nn.functional.silu(product[:, :n]) * product[:, n:])
    assert error < 8e-3, f"gated pair of {entries[0]['problem']} differs by {error}"
    mine, *peers = compare.alternate([ours, two, together], options.rounds, flush)
    return mine, min(peers)


def table(name, rows):
    print(f"\n| {name}: M x N x K | us | peer, us | ratio |\n|---|---:|---:|---:|")
    for problem, (mine, peer) in rows:
        print(f"| {' x '.join(map(str, problem))} | {mine * 1e3:.1f} | {peer * 1e3:.1f} | {peer / mine:.3f} |")
    print(f"| geometric mean, least | | | {mean_and_least([peer / mine for _, (mine, peer) in rows])} |", flush=True)


def measure(compare, torch, options, entries, flush):
    biased = [entry for entry in entries if entry["name"] == "gelu"]
    table("bias and gelu", [(entry["problem"], compare_biased(compare, torch, options, entry, flush)) for entry in biased])
    pairs = list(zip((entry for entry in entries if entry["name"] == "plain"), (entry for entry in entries if entry["name"] == "gate")))
    table("gated pair", [(pair[0]["problem"], compare_gated(compare, torch, options, pair, flush)) for pair in pairs])


if __name__ == "__main__":
    run(parser_of(__doc__).parse_args(), prepare, measure)
