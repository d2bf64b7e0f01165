#!/usr/bin/env python3
"""gemm with epilogues that read operands, beside the same gemm without one.

    tools/compare/gemm_hooks.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200] [--pin WORDS]...
    tools/compare/gemm_hooks.py measure FOLDER [--rounds 30] [--loads 4]

`prepare` needs no GPU: it plans and builds every problem for a named device, with the configuration that the plain gemm is planned
with, with that of the epilogue and with each --pin; the fastest counts, of both sides, as if they were tuned. `measure` runs them where there is one, with PyTorch and the package tma_jit, by the method of compare.py, but reads the operands
after L2 is flushed, so that they are there. Each kernel is loaded --loads times, of which the fastest counts, of both sides: where
its code comes to lie decides about up to 1 us of a launch. A result is compared with PyTorch's product in f32 and the epilogue applied to that.
"""
import os

from command_line import parser_of, run, target
from prepared import prepare as build
from ratios import mean_and_least

PROBLEMS = [(1024,) * 3, (2048,) * 3, (4096,) * 3, (8192,) * 3, (4096, 14336, 4096), (4096, 4096, 14336), (512, 4096, 7168),
            (128, 7168, 4096), (2048, 7168, 2048), (5000, 5120, 2880), (1001, 3000, 1024)]
EPILOGUES = {
    "relu(x + bias[column])": ["--operand", "bias : f32[N]", "--hook", "epilogue=fmaxf(x + bias[column], 0.0f)"],
    "x * scale_row[row]": ["--operand", "scale_row : f32[M]", "--hook", "epilogue=x * scale_row[row]"],
    "silu(x) * up[row, column]": ["--operand", "up : bf16[M, N]", "--hook", "epilogue=silu(x) * up[row, column]"]}


def prepare(options):
    entries = []

    def built(words):
        file = f"{len(entries)}.cubin"
        return file, build(options.tma_jit, [*words, *target(options)], os.path.join(options.folder, file))
    for m, n, k in PROBLEMS:
        words = ["gemm", f"M={m}", f"N={n}", f"K={k}"]
        _, plain = built(words)
        planned = ["--template-file", os.path.splitext(os.path.basename(plain["file"]))[0],
                   *(f"{name}={value}" for name, value in plain["config"].items())]
        for pins in [planned, [], *(pin.split() for pin in options.pin or [])]:
            for name, epilogue in {None: [], **EPILOGUES}.items():
                if name is None and not pins:
                    continue
                file, plan = built([*words, *epilogue, *pins])
                entries.append({"problem": (m, n, k), "epilogue": name, "file": file, "plan": plan})
    return entries


def expected(torch, name, product, operands):
    if name is None:
        return product
    if name.startswith("relu"):
        return torch.relu(product + operands["bias"])
    if name.startswith("x"):
        return product * operands["scale_row"][:, None]
    return torch.nn.functional.silu(product) * operands["up"].float()


def measured(compare, torch, options, problem, entries, flush):
    """The least milliseconds of each epilogue, by its name, and the configuration that takes them. All sides take turns."""
    m, n, k = problem
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
    operands = {"bias": torch.randn(n, device="cuda"), "scale_row": torch.randn(m, device="cuda"),
                "up": torch.randn(m, n, device="cuda").bfloat16()}
    d = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    entries = [entry for entry in entries for _ in range(options.loads)]
    sides = [compare.Kernel(entry["plan"], os.path.join(options.folder, entry["file"]), {"A": a, "B": b, "D": d, **operands})
             for entry in entries]
    product = a.float() @ b.float().T
    for entry, side in zip(entries, sides):
        compare.poisoned(d)
        side()
        error = compare.difference(d, expected(torch, entry["epilogue"], product, operands))
        assert error < 6e-3, f"{problem} {entry['epilogue']} differs by {error}"
    least = {}
    for entry, side, time in zip(entries, sides, compare.alternate(sides, options.rounds, flush, warmed=operands.values())):
        file = os.path.basename(entry["plan"]["file"])
        least[entry["epilogue"]] = min(least.get(entry["epilogue"], (float("inf"), "")), (time, f"{file} {side.config}"))
    return least


def measure(compare, torch, options, entries, flush):
    print(f"| M x N x K | without, us | {' | '.join(f'`{name}`, us | ratio' for name in EPILOGUES)} | configuration; others with it |\n"
          f"|---|---:|{'---:|---:|' * len(EPILOGUES)}---|")
    ratios = {name: [] for name in EPILOGUES}
    for problem in PROBLEMS:
        chosen = [entry for entry in entries if tuple(entry["problem"]) == problem]
        least = measured(compare, torch, options, problem, chosen, flush)
        plain, config = least.pop(None)
        for name, (time, _) in least.items():
            ratios[name].append(plain / time)
        columns = " | ".join(f"{time * 1e3:.1f} | {plain / time:.3f}" for time, _ in least.values())
        others = {used for _, used in least.values()} - {config}
        print(f"| {' x '.join(map(str, problem))} | {plain * 1e3:.1f} | {columns} | {'; '.join([config, *others])} |", flush=True)
    print("\n| epilogue | geometric mean, least |\n|---|---|")
    for name, values in ratios.items():
        print(f"| `{name}` | {mean_and_least(values)} |")


def main():
    parser = parser_of(__doc__, rounds=30)
    parser.add_argument("--pin", action="append", help="of `prepare`: file and params of a configuration; may be repeated")
    parser.add_argument("--loads", type=int, default=4, help="of `measure`: times that each kernel is loaded")
    run(parser.parse_args(), prepare, measure)


if __name__ == "__main__":
    main()
