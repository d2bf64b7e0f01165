#!/usr/bin/env python3
"""gemm as it is tuned, beside the fastest of cuBLASLt's first choices.

    tools/compare/gemm_tuned.py FOLDER [--tma-jit build/bin/tma-jit] [--rounds 15] [--seconds 1.5] [--seed 2026] [--drawn 60] [--only NAME]

Needs a GPU, PyTorch and the package tma_jit. The problems of large models and those drawn at random (gemm.py) are tuned in bf16 with
an empty cache, `--seconds` for each, and so are the models' problems in e4m3, with exact and with fast sums; with `--only e4m3` only
the sets whose names contain that. Each is then measured by the method of compare.py beside cuBLASLt: all of its first `--heuristics`
choices for a few rounds, the fastest two of them and ours for `--rounds` in turn, of which the faster counts.
"""
import argparse
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import compare
import torch
from cublaslt import CublasLt
from gemm import MODELS, drawn
from prepared import prepare
from ratios import mean_and_least

FEW = 5  # rounds that choose among the library's choices


def words_of(problem):
    return [f"{dim}={extent}" for dim, extent in zip("MNK", problem)]


def tune(options, cache, entries):
    path = os.path.join(options.folder, "problems.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for _, problem, words in entries:
            line = {"kernel": "gemm", "dims": dict(zip("MNK", problem)), "types": {"T": "e4m3" if "T=e4m3" in words else "bf16"}}
            if "FAST=1" in words:
                line["params"] = {"FAST": 1}
            file.write(json.dumps(line) + "\n")
    subprocess.check_call([options.tma_jit, "tune", "--list", path, "--cache-dir", cache, "--quiet",
                           "--budget", str(options.seconds * len(entries))], stdout=subprocess.DEVNULL)


def prepared_all(options, cache, entries):
    """The plan of each entry, whose cubin is the file of its number."""
    def one(number):
        _, problem, words = entries[number]
        request = ["gemm", *words_of(problem), *words, "--cache-dir", cache]
        return prepare(options.tma_jit, request, os.path.join(options.folder, f"{number}.cubin"))
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, range(len(entries))))


def timed(options, plan, number, problem, words, flush):
    """Milliseconds of ours, of cuBLASLt's first choice and of its fastest, and our configuration."""
    m, n, k = problem
    dtype = torch.float8_e4m3fn if "T=e4m3" in words else torch.bfloat16
    a, b = (torch.randn(rows, k, device="cuda").to(dtype) for rows in (m, n))
    d, theirs = (compare.poisoned(torch.empty(m, n, device="cuda", dtype=torch.bfloat16)) for _ in range(2))
    ours = compare.Kernel(plan, os.path.join(options.folder, f"{number}.cubin"), {"A": a, "B": b, "D": d})
    peers = CublasLt(torch, a, b, theirs, "FAST=1" in words).heuristics(options.heuristics)
    fastest = compare.fastest(peers, 2, FEW, flush)
    mine, first, *best = compare.alternate([ours, peers[0], *fastest], options.rounds, flush)
    error = compare.difference(d, theirs)
    assert error < (2e-2 if "FAST=1" in words else 6e-3), f"{problem} {words} differs from cuBLASLt by {error}"
    return mine, first, min(first, *best), ours.config


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--tma-jit", default="build/bin/tma-jit")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--heuristics", type=int, default=8)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--drawn", type=int, default=60)
    parser.add_argument("--only", default="", help="measure only sets whose names contain this")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    cache = os.path.join(options.folder, "cache")
    sets = {"models": (MODELS, []), "drawn": (drawn(options.seed, options.drawn), []),
            "e4m3, exact sums": (MODELS, ["T=e4m3"]), "e4m3, fast sums": (MODELS, ["T=e4m3", "FAST=1"])}
    entries = [(name, problem, words) for name, (problems, words) in sets.items() if options.only in name
               for problem in problems]
    tune(options, cache, entries)
    plans = prepared_all(options, cache, entries)
    flush = compare.start(options.rounds)
    print("| set | M x N x K | us | TFLOP/s | cuBLASLt's first, us | its fastest, us | ratio | configuration |\n|---|---|---:|---:|---:|---:|---:|---|")
    ratios = {}
    for number, (name, problem, words) in enumerate(entries):
        mine, first, best, config = timed(options, plans[number], number, problem, words, flush)
        ratios.setdefault(name, []).append((first / mine, best / mine))
        print(f"| {name} | {' x '.join(map(str, problem))} | {mine * 1e3:.1f} | {plans[number]['work']['flops'] / mine / 1e9:,.0f} | "
              f"{first * 1e3:.1f} | {best * 1e3:.1f} | {best / mine:.3f} | {os.path.basename(plans[number]['file'])} {config} |", flush=True)
    print("\n| set | problems | of its first choice: geometric mean, least | of its fastest: geometric mean, least | below 0.97 |\n"
          "|---|---:|---:|---:|---:|")
    for name, values in ratios.items():
        firsts, bests = zip(*values)
        print(f"| {name} | {len(values)} | {mean_and_least(firsts)} | {mean_and_least(bests)} | {sum(ratio < 0.97 for ratio in bests)} |")


if __name__ == "__main__":
    main()
