#!/usr/bin/env python3
"""gemm_gated, the gated pair of an MLP, `silu(A G^T) * (A B^T)`, beside the vendor's ways of computing it.

    tools/compare/gemm_gated.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200]
    tools/compare/gemm_gated.py measure FOLDER [--rounds 20]

In bf16, and in e4m3 with scales of tensors on the device, with exact and with fast sums: one launch of gemm_gated, and two of gemm, of which the second reads the first
one's result in its epilogue, beside cuBLAS (torch.mm, torch._scaled_mm) and an elementwise kernel that torch.compile makes, with two products or with one of both
weights side by side, whichever is faster. Batches, such as the experts of a layer, in bf16: gemm_gated_batched and gemm_batched beside torch.bmm and that kernel.
`prepare` needs no GPU. `measure` works by the method of compare.py; both sides start with L2 flushed.
"""
import os

from command_line import parser_of, run, target
from prepared import prepare as build
from ratios import mean_and_least

PROBLEMS = [(1, 14336, 4096), (64, 14336, 4096), (512, 14336, 4096), (4096, 14336, 4096), (2048, 8192, 2048), (4096, 4096, 1024),
            (8192, 2048, 512)]
BATCHES = [(8, 64, 14336, 4096), (8, 512, 14336, 4096), (64, 128, 1408, 2048), (128, 64, 768, 2048), (32, 1024, 1024, 1024), (16, 2048, 2048, 512)]
SCALES = [word for name in ("a_scale", "g_scale", "b_scale") for word in ("--operand", f"{name} : f32[1]")]
OF_G, OF_B = ("a_scale[0] * g_scale[0]", "a_scale[0] * b_scale[0]")
GATE = ["--operand", "gate : bf16[M, N]"]
BF16 = {"gated": ["gemm_gated"], "first": ["gemm"], "second": ["gemm", *GATE, "--hook", "epilogue=silu(gate[row, column]) * x"]}
E4M3 = {"gated": ["gemm_gated", *SCALES, "--hook", f"gate=silu(g * ({OF_G})) * (x * ({OF_B}))"],
        "first": ["gemm", *SCALES, "--hook", f"epilogue=x * ({OF_G})"],
        "second": ["gemm", *SCALES, *GATE, "--hook", f"epilogue=silu(gate[row, column]) * (x * ({OF_B}))"]}
BATCHED = {"gated": ["gemm_gated_batched"], "first": ["gemm_batched"],
           "second": ["gemm_batched", "--operand", "gate : bf16[BATCH, M, N]", "--hook", "epilogue=silu(gate[matrix, row, column]) * x"]}
KINDS = {"bf16": (BF16, [], PROBLEMS), "e4m3, exact sums": (E4M3, ["T=e4m3"], PROBLEMS), "e4m3, fast sums": (E4M3, ["T=e4m3", "FAST=1"], PROBLEMS),
         "bf16, batches": (BATCHED, [], BATCHES)}


def dims_of(batch, sizes):
    """The words of a problem's dims; `batch` has the matrices of a batch, or nothing."""
    return [*(f"{dim}={count}" for count in batch for dim in ("BATCH", "A_BATCH", "B_BATCH")), *(f"{dim}={size}" for dim, size in zip("MNK", sizes))]


def prepare(options):
    entries = []
    for kind, (launches, types, problems) in KINDS.items():
        for problem in problems:
            for name, (kernel, *hooks) in launches.items():
                file = f"{len(entries)}.cubin"
                request = [kernel, *dims_of(problem[:-3], problem[-3:]), *types, *hooks, *target(options)]
                plan = build(options.tma_jit, request, os.path.join(options.folder, file))
                entries.append({"problem": problem, "kind": kind, "name": name, "file": file, "plan": plan})
    return entries


class Operands:
    """A, and G above B, in the type of a kind, with the scales of the three; those of bf16 are 1 and not used. Of a batch each has a matrix for each product."""

    def __init__(self, torch, kind, batch, m, n, k):
        self.e4m3, self.fast = kind.startswith("e4m3"), kind.endswith("fast sums")
        of_type = torch.float8_e4m3fn if self.e4m3 else torch.bfloat16
        self.a = torch.randn(*batch, m, k, device="cuda").to(of_type)
        self.weights = torch.randn(*batch, 2 * n, k, device="cuda").to(of_type)
        self.scales = {name: torch.full((1,), value if self.e4m3 else 1, device="cuda")
                       for name, value in (("a_scale", k ** -0.5), ("g_scale", 1.5), ("b_scale", 1.5))}

    def product(self, torch, weights):
        """Peers: a product with rows of the weights."""
        if not self.e4m3:
            return self.a @ weights.mT
        return torch._scaled_mm(self.a, weights.T, self.scales["a_scale"], self.scales["b_scale"], out_dtype=torch.bfloat16,
                                use_fast_accum=self.fast)

    def expected(self, torch, n):
        product = self.a.float() @ self.weights.float().mT
        if self.e4m3:
            product *= self.scales["a_scale"] * self.scales["b_scale"]
        return torch.nn.functional.silu(product[..., :n]) * product[..., n:]


def compare_gated(compare, torch, options, entries, flush):
    """The milliseconds of one launch, of two, and of the faster peer."""
    *batch, m, n, k = entries["gated"]["problem"]
    operands = Operands(torch, entries["gated"]["kind"], batch, m, n, k)
    gate, d = (torch.empty(*batch, m, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    gates, others = operands.weights[..., :n, :].contiguous(), operands.weights[..., n:, :].contiguous()
    tensors = {"gated": {"A": operands.a, "G": gates, "B": others, "D": d}, "first": {"A": operands.a, "B": gates, "D": gate},
               "second": {"A": operands.a, "B": others, "D": d, "gate": gate}}
    kernels = {name: compare.Kernel(entry["plan"], os.path.join(options.folder, entry["file"]), {**tensors[name], **operands.scales})
               for name, entry in entries.items()}

    @torch.compile(dynamic=False)
    def gated(g, u):
        return torch.nn.functional.silu(g) * u

    def in_two():
        kernels["first"]()
        kernels["second"]()

    def two():
        gated(operands.product(torch, gates), operands.product(torch, others))

    def together():
        both = operands.product(torch, operands.weights)
        gated(both[..., :n], both[..., n:])
    expected = operands.expected(torch, n)
    for ours in (kernels["gated"], in_two):
        compare.poisoned(d)
        ours()
        error = compare.difference(d, expected)
        assert error < 8e-3, f"gated pair of {' x '.join(map(str, entries['gated']['problem']))}, {entries['gated']['kind']}, differs by {error}"
    one, mine, *peers = compare.alternate([kernels["gated"], in_two, two, together], options.rounds, flush)
    return one, mine, min(peers), kernels["gated"].config


def measure(compare, torch, options, entries, flush):
    torch._dynamo.config.recompile_limit = 4 * (len(PROBLEMS) + len(BATCHES)) * len(KINDS)  # beyond 8 shapes the peer would not be compiled
    for kind, (*_, problems) in KINDS.items():
        print(f"\n| gated pair, {kind}: {'batch x ' * (problems is BATCHES)}M x N x K | us | peer, us | ratio | two launches, us | ratio | configuration |\n|---|---:|---:|---:|---:|---:|---|")
        ratios = []
        for problem in problems:
            chosen = {entry["name"]: entry for entry in entries if tuple(entry["problem"]) == problem and entry["kind"] == kind}
            one, two, peer, config = compare_gated(compare, torch, options, chosen, flush)
            ratios.append((peer / one, peer / two))
            print(f"| {' x '.join(map(str, problem))} | {one * 1e3:.1f} | {peer * 1e3:.1f} | {peer / one:.3f} | {two * 1e3:.1f} | {peer / two:.3f} | {config} |")
        means = [mean_and_least(list(of_side)) for of_side in zip(*ratios)]
        print(f"| geometric mean, least | | | {means[0]} | | {means[1]} | |", flush=True)


if __name__ == "__main__":
    run(parser_of(__doc__).parse_args(), prepare, measure)
