#!/usr/bin/env python3
"""gemm with what follows it fused, beside the vendor's ways of doing so.

    tools/compare/gemm_fused.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200]
    tools/compare/gemm_fused.py measure FOLDER [--rounds 20]

`gelu_tanh(x + bias[column])` beside cuBLASLt's epilogue of the same, as PyTorch calls it (torch._addmm_activation). And the gated pair of
an MLP, `silu(A G^T) * (A B^T)`: one launch of gemm_gated, and two of gemm, of which the second reads the first one's result in its epilogue, beside
cuBLAS and an elementwise kernel that torch.compile makes, with two products or with one of both weights side by side, whichever is faster.
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
        request = [words[0], *(f"{dim}={extent}" for dim, extent in zip("MNK", problem)), *words[1:], *target(options)]
        entries.append({"problem": problem, "name": name, "file": file, "plan": build(options.tma_jit, request, os.path.join(options.folder, file))})
    for problem in BIASED:
        built(problem, "gelu", ["gemm", *GELU])
    for problem in GATED:
        built(problem, "gated", ["gemm_gated"])
        built(problem, "first", ["gemm"])
        built(problem, "second", ["gemm", *GATE])
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
    """The milliseconds of one launch, of two, and of the faster peer."""
    m, n, k = entries["gated"]["problem"]
    a = torch.randn(m, k, device="cuda").bfloat16()
    weights = torch.randn(2 * n, k, device="cuda").bfloat16()
    gate, d = (torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    gates, others = weights[:n], weights[n:]
    tensors = {"gated": {"A": a, "G": gates, "B": others, "D": d}, "first": {"A": a, "B": gates, "D": gate},
               "second": {"A": a, "B": others, "D": d, "gate": gate}}
    kernels = {name: compare.Kernel(entry["plan"], os.path.join(options.folder, entry["file"]), tensors[name])
               for name, entry in entries.items()}

    @torch.compile(dynamic=False)
    def gated(g, u):
        return torch.nn.functional.silu(g) * u

    def in_two():
        kernels["first"]()
        kernels["second"]()

    def two():
        gated(a @ gates.T, a @ others.T)

    def together():
        both = a @ weights.T
        gated(both[:, :n], both[:, n:])
    product = a.float() @ weights.float().T
    expected = torch.nn.functional.silu(product[:, :n]) * product[:, n:]
    for ours in (kernels["gated"], in_two):
        compare.poisoned(d)
        ours()
        error = compare.difference(d, expected)
        assert error < 8e-3, f"gated pair of {m} x {n} x {k} differs by {error}"
    one, mine, *peers = compare.alternate([kernels["gated"], in_two, two, together], options.rounds, flush)
    return one, mine, min(peers)


def table(name, rows):
    print(f"\n| {name}: M x N x K | us | peer, us | ratio |\n|---|---:|---:|---:|")
    for problem, (mine, peer) in rows:
        print(f"| {' x '.join(map(str, problem))} | {mine * 1e3:.1f} | {peer * 1e3:.1f} | {peer / mine:.3f} |")
    print(f"| geometric mean, least | | | {mean_and_least([peer / mine for _, (mine, peer) in rows])} |", flush=True)


def measure(compare, torch, options, entries, flush):
    biased = [entry for entry in entries if entry["name"] == "gelu"]
    table("bias and gelu", [(entry["problem"], compare_biased(compare, torch, options, entry, flush)) for entry in biased])
    torch._dynamo.config.recompile_limit = 4 * len(GATED)  # beyond 8 shapes the peer would not be compiled
    rows = []
    for problem in GATED:
        chosen = {entry["name"]: entry for entry in entries if tuple(entry["problem"]) == problem and entry["name"] != "gelu"}
        rows.append((problem, compare_gated(compare, torch, options, chosen, flush)))
    table("gated pair", [(problem, (one, peer)) for problem, (one, _, peer) in rows])
    table("gated pair in two launches", [(problem, (two, peer)) for problem, (_, two, peer) in rows])


if __name__ == "__main__":
    run(parser_of(__doc__).parse_args(), prepare, measure)
