#!/usr/bin/env python3
"""The errors of gemm by type, beside those of PyTorch's libraries on the same data, and the times of both.

    tools/compare/gemm_accuracy.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200]
    tools/compare/gemm_accuracy.py measure FOLDER [--rounds 10]

`prepare` needs no GPU. Results are f32 on both sides (s32 of s8), so that the errors are those of sums; each is relative to the root
mean square of the product in f64 of the same elements: the root mean square of all errors, and the largest. `positive` data are the
absolute values, whose sums grow with K, so that what an addition cuts off adds up.
"""
import os

from command_line import parser_of, run, target
from prepared import prepare as build

EXTENT, DEPTHS = 1024, (1024, 16384)
TYPES = {"bf16": ["T=bf16", "O=f32"], "f16": ["T=f16", "O=f32"], "f32 as tf32": ["T=f32", "O=f32"],
         "f32, TERMS=3": ["T=f32", "O=f32", "TERMS=3"], "e4m3": ["T=e4m3", "O=f32"], "e4m3, FAST=1": ["T=e4m3", "O=f32", "FAST=1"],
         "s8": ["T=s8", "O=s32"]}


def prepare(options):
    entries = []
    for name, words in TYPES.items():
        for k in DEPTHS:
            file = f"{len(entries)}.cubin"
            request = ["gemm", f"M={EXTENT}", f"N={EXTENT}", f"K={k}", *words, *target(options)]
            entries.append({"type": name, "K": k, "file": file, "plan": build(options.tma_jit, request, os.path.join(options.folder, file))})
    return entries


def operands(torch, entry, positive):
    def of():
        if entry["type"] == "s8":
            return torch.randint(0 if positive else -128, 128, (EXTENT, entry["K"]), device="cuda", dtype=torch.int8)
        made = torch.randn(EXTENT, entry["K"], device="cuda")
        kinds = {"bf16": torch.bfloat16, "f16": torch.float16, "e4m3": torch.float8_e4m3fn}
        return (made.abs() if positive else made).to(kinds.get(entry["type"].split(",")[0], torch.float32))
    return of(), of()


def peer_of(torch, name, a, b):
    if name == "s8":
        return lambda: torch._int_mm(a, b.T)
    if name.startswith("e4m3"):
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b.T, scale_a=one, scale_b=one, out_dtype=torch.float32, use_fast_accum="FAST" in name)
    if name.startswith("f32"):
        def multiply():
            torch.backends.cuda.matmul.allow_tf32 = "tf32" in name
            return torch.mm(a, b.T)
        return multiply
    return lambda: torch.mm(a, b.T, out_dtype=torch.float32)


def errors(result, exact):
    scale = exact.square().mean().sqrt()
    off = (result.double() - exact).abs() / scale
    return f"{off.square().mean().sqrt().item():.1e}, {off.max().item():.1e}"


def measure(compare, torch, options, entries, flush):
    print("| type | K | data | ours | peer | ours, us | peer, us | ratio |\n|---|---:|---|---:|---:|---:|---:|---:|")
    for entry in entries:
        for positive in (False, True):
            a, b = operands(torch, entry, positive)
            d = torch.empty(EXTENT, EXTENT, device="cuda", dtype=torch.int32 if entry["type"] == "s8" else torch.float32)
            d.view(torch.uint8).fill_(0xFF)
            ours = compare.Kernel(entry["plan"], os.path.join(options.folder, entry["file"]), {"A": a, "B": b, "D": d})
            peer = peer_of(torch, entry["type"], a, b)
            exact = torch.mm(a.double(), b.double().T)
            ours()
            cells = [errors(d, exact), errors(peer(), exact)]
            times = compare.alternate([ours, peer], options.rounds, flush)
            cells += [f"{times[0] * 1e3:.1f}", f"{times[1] * 1e3:.1f}", f"{times[1] / times[0]:.3f}"]
            print(f"| {entry['type']} | {entry['K']} | {'positive' if positive else 'normal'} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    run(parser_of(__doc__, rounds=10).parse_args(), prepare, measure)
