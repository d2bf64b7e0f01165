#!/usr/bin/env python3
"""How good tuned and estimated configurations of gemm are, against a sweep that measures many more.

    tools/compare/tuning.py FOLDER [--tma-jit build/bin/tma-jit] [--problems 30] [--sweep 128] [--seconds 2]

Needs a GPU. Each problem is tuned three times, each time with an empty cache and no records: once with `--sweep` configurations
and no limit of time, and twice as an application would, with `--seconds` for each problem. Every ratio of two configurations
is one of their times in the sweep, which launches each in turns with the planned one and states all at that one's latest time. The
best is the fastest of those that the sweep launched often: the least of a hundred medians of three launches would be the least noise. Four columns: what tuning
chose, the same again, what the planner takes unmeasured, and the best of the planner's first 8.
"""
import argparse
import json
import math
import os
import subprocess
import time

from gemm import MODELS, drawn
from ratios import mean_and_least

OFTEN = 20  # launches of a configuration in the sweep
COLUMNS = ["tuned", "tuned again", "estimated", "best of the first 8 estimated"]


def tune(options, name, extra):
    """The results of tuning all problems, and the seconds it took."""
    folder = os.path.join(options.folder, name)
    os.makedirs(folder)
    begin = time.monotonic()
    output = subprocess.check_output(
        [options.tma_jit, "tune", "--list", os.path.join(options.folder, "problems.jsonl"), "--cache-dir", folder, "--json",
         "--quiet", "--records", os.path.join(folder, "tuned.jsonl"), *extra])
    with open(os.path.join(options.folder, name + ".json"), "wb") as file:
        file.write(output)
    return json.loads(output)["results"], time.monotonic() - begin


def configuration(trial):
    return trial["file"], tuple(sorted(trial["params"].items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="is made, and keeps all that was measured")
    parser.add_argument("--tma-jit", default="build/bin/tma-jit")
    parser.add_argument("--problems", type=int, default=30)
    parser.add_argument("--sweep", type=int, default=128)
    parser.add_argument("--sweep-seconds", type=float, default=3600, help="most for the whole sweep")
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    os.makedirs(options.folder)
    models = [p for p in MODELS if 2 * p[0] * p[1] * p[2] < 2e12][:options.problems // 2]
    problems = models + drawn(2026, options.problems - len(models))
    with open(os.path.join(options.folder, "problems.jsonl"), "w", encoding="utf-8") as file:
        for m, n, k in problems:
            file.write(json.dumps({"kernel": "gemm", "dims": {"M": m, "N": n, "K": k}}) + "\n")
    short = ["--budget", str(options.seconds * len(problems))]
    runs = [tune(options, "sweep", ["--candidates", str(options.sweep), "--budget", str(options.sweep_seconds)]),
            tune(options, "tuned", short), tune(options, "again", short)]
    print("| M x N x K | measured | best, us | " + " | ".join(COLUMNS) + " |\n|---|---:|---:|" + "---:|" * len(COLUMNS))
    ratios = []
    for problem, sweep, tuned, again in zip(problems, *(results for results, _ in runs)):
        times = {configuration(trial): trial["us"] for trial in sweep["trials"] if trial["outcome"] == "measured"}
        best = min(trial["us"] for trial in sweep["trials"] if trial["launches"] >= OFTEN)
        chosen = [configuration(result["record"]) for result in (tuned, again)]
        estimated = [configuration(trial) for trial in sweep["trials"][:8]]
        taken = [times.get(one) for one in chosen] + [times.get(estimated[0]), min(times.get(one, math.inf) for one in estimated)]
        row = [min(best / us, 1) if us else math.nan for us in taken]
        ratios.append(row)
        print(f"| {' x '.join(map(str, problem))} | {len(times)} | {best:.1f} | " + " | ".join(f"{r:.3f}" for r in row) + " |")
    print("\n| | geometric mean | least |\n|---|---:|---:|")
    for name, column in zip(COLUMNS, zip(*ratios)):
        known = [value for value in column if not math.isnan(value)]
        print(f"| {name} | {mean_and_least(known, ' | ')} |")
    apart = [max(a, b) / min(a, b) for a, b, *_ in ratios if not math.isnan(a + b)]
    print(f"\nTwo fresh tunes differ by more than 1 % in {sum(a > 1.01 for a in apart)} of {len(apart)} problems, by "
          f"{max(apart) - 1:.1%} at most. The best is among the first 8, within 2 %, in "
          f"{sum(row[3] >= 0.98 for row in ratios)} of {len(ratios)}.")
    print("Seconds: " + ", ".join(f"{name} {seconds:.1f}" for name, (_, seconds) in zip(("sweep", "tuned", "again"), runs)))


if __name__ == "__main__":
    main()
