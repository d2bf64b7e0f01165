#!/usr/bin/env python3
"""Kernels of two folders of templates on the same data, such as those before a change and those after it.

    git worktree add /tmp/before HEAD~
    tools/compare/templates.py prepare FOLDER --before /tmp/before/templates --requests FILE [--after templates] [--device h200]
    tools/compare/templates.py measure FOLDER [--rounds 30]

Each line of FILE is the words of a request, as `tma-jit plan` takes them, then, where they differ, `|` and further words for the
templates before, `|` and further words for those after. `prepare` needs no GPU and prints the registers and spilled bytes of both,
and the milliseconds of their compiles. `measure` fills the inputs with random data, 32-bit integers with zeros up to the smallest
extent of the request, and demands the same bits of both.
"""
import json
import math
import os
import subprocess

from command_line import parser_of, run
from prepared import prepare as build
from ratios import mean_and_least


def described(options, words):
    """Registers, spilled bytes, and the least milliseconds of three compiles, without the cache."""
    builds = [json.loads(subprocess.check_output([options.tma_jit, "build", *words, "--no-cache", "--json"])) for _ in range(3)]
    return builds[0]["registers"], builds[0]["spill_bytes"], min(each["compile_ms"] for each in builds)


def prepare(options):
    entries = []
    print("| request | registers, spilled bytes before | after | ms of a compile before | after |\n|---|---|---|---:|---:|")
    with open(options.requests, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    for line in lines:
        request, *further = [part.split() for part in line.split("|")]
        further += [[]] * (2 - len(further))
        entry = {"request": " ".join(request + further[1])}
        facts = []
        for side, folder, words in zip(("before", "after"), (options.before, options.after), further):
            words = [*request, *words, "--templates", folder, "--device", options.device]
            entry[side] = f"{len(entries)}-{side}.cubin"
            entry[side + " plan"] = build(options.tma_jit, words, os.path.join(options.folder, entry[side]))
            facts.append(described(options, words))
        print(f"| {entry['request']} | {' | '.join(f'{r}, {s}' for r, s, _ in facts)} | {' | '.join(f'{ms:.0f}' for *_, ms in facts)} |")
        entries.append(entry)
    return entries


def made(torch, argument, plan):
    """Random data of a tensor, packed as the plan wants it."""
    kinds = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16, "e4m3": torch.float8_e4m3fn,
             "e5m2": torch.float8_e5m2, "s32": torch.int32, "s64": torch.int64, "u8": torch.uint8, "s8": torch.int8}
    kind, shape = kinds[argument["dtype"]], argument["shape"]
    if kind in (torch.int32, torch.int64):
        least = min((dim["value"] for dim in plan["dims"]), default=1)
        return torch.randint(max(1, least), shape, device="cuda", dtype=kind)
    if kind in (torch.uint8, torch.int8):
        return torch.randint(0, 127, shape, device="cuda", dtype=kind)
    return torch.randn(shape, device="cuda").to(kind)


def measured(compare, torch, options, entry, flush):
    """Milliseconds before and after."""
    inputs, sides, results = {}, [], []
    for side in ("before", "after"):
        plan = entry[side + " plan"]
        tensors = {}
        for argument in plan["arguments"]:
            name = argument["name"]
            if argument["kind"] not in ("tensor map", "view") or not argument["present"] or name in tensors:
                continue
            assert math.prod(argument["shape"]) == 0 or argument["strides"][-1] == 1
            if argument["output"]:
                tensors[name] = made(torch, argument, plan)
                tensors[name].view(torch.uint8).fill_(0xFF)
            else:
                tensors[name] = inputs.setdefault(name, None)
                if tensors[name] is None:
                    tensors[name] = inputs[name] = made(torch, argument, plan)
        sides.append(compare.Kernel(plan, os.path.join(options.folder, entry[side]), tensors))
        results.append({name: tensor for name, tensor in tensors.items() if name not in inputs})
    times = compare.alternate(sides, options.rounds, flush)
    for name, before in results[0].items():
        assert torch.equal(before.view(torch.uint8), results[1][name].view(torch.uint8)), f"{entry['request']}: {name} differs"
    return times


def measure(compare, torch, options, entries, flush):
    print("| request | before, us | after, us | before / after |\n|---|---:|---:|---:|")
    ratios = []
    for entry in entries:
        before, after = measured(compare, torch, options, entry, flush)
        ratios.append(before / after)
        print(f"| {entry['request']} | {before * 1e3:.2f} | {after * 1e3:.2f} | {before / after:.3f} |", flush=True)
    print(f"\ngeometric mean, least: {mean_and_least(ratios)}")


def main():
    parser = parser_of(__doc__, rounds=30)
    parser.add_argument("--before", help="of `prepare`: a folder of templates")
    parser.add_argument("--after", default="templates")
    parser.add_argument("--requests", metavar="FILE")
    run(parser.parse_args(), prepare, measure)


if __name__ == "__main__":
    main()
