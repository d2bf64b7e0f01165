#!/usr/bin/env python3
"""How good tuned and estimated configurations of gemm are, against a sweep that measures many more.

    tools/compare/tuning.py FOLDER [--tma-jit build/bin/tma-jit] [--problems 30] [--sweep 128] [--seconds 2]

Needs a GPU and PyTorch. Each problem is tuned three times, each time with an empty cache and no records: once with `--sweep`
configurations, and twice as an application would, with `--seconds` for each problem. The four best of the sweep, of those that it
launched often, because the least of a hundred medians of a few launches would be the least noise, then take turns with what
tuning chose and with the planner's first 8, for `--rounds` rounds in each of `--places` places in memory: by where its tensors lie a
kernel's time varies, with rows that break L2's lines by up to 9 %, differently for each configuration. A time is the mean over the
places of the medians there, every ratio is one of such times, and the best is their least. Four columns: what tuning chose, the same again, what the planner takes
unmeasured, and the best of the planner's first 8.

`--known FILE`, a raced.json of earlier runs, names further configurations to race, in place of a sweep or beside it; `--sweep 0`
makes none.
"""
import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import time

from gemm import MODELS, drawn
from prepared import prepare
from ratios import mean_and_least

OFTEN = 20  # launches of a configuration in the sweep
BEST = 4    # configurations of the sweep that are measured again
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


def measured(results):
    """The measured trials of several tunes of one problem, the fastest first."""
    return sorted((trial for result in results for trial in result["trials"] if trial["outcome"] == "measured"),
                  key=lambda trial: trial["us"])


def built(options, problem, configurations):
    """The plan and the cubin of each configuration; without those of earlier runs that the templates no longer offer."""
    def build(number, file, params):
        words = ["gemm", *(f"{name}={value}" for name, value in zip("MNK", problem)), *(f"{name}={value}" for name, value in params),
                 "--template-file", file, "--cache-dir", os.path.join(options.folder, "sweep" if options.sweep else "again")]
        path = os.path.join(options.folder, f"{number}.cubin")
        try:
            return prepare(options.tma_jit, words, path), path
        except subprocess.CalledProcessError:
            return None
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        kernels = pool.map(build, range(len(configurations)), *zip(*configurations))
        return {configuration: kernel for configuration, kernel in zip(configurations, kernels) if kernel is not None}


class Memory:
    """The tensors of a problem, in memory with some room, all of which holds random data."""

    ROOM = 2 << 20
    STEP = 256

    def __init__(self, torch, problem):
        m, n, k = problem
        self.shapes = {"A": (m, k), "B": (n, k), "D": (m, n)}
        self.buffers = {name: torch.randn(rows * columns + self.ROOM // 2, device="cuda").bfloat16()
                        for name, (rows, columns) in self.shapes.items()}

    def tensors(self, place):
        """Views at other addresses in every place, and other distances between them."""
        for index, (name, (rows, columns)) in enumerate(self.shapes.items()):
            begin = place * (1301 + 1046 * index) % (self.ROOM // self.STEP) * self.STEP // 2
            yield name, self.buffers[name][begin:begin + rows * columns].view(rows, columns)


def race(torch, compare, options, flush, problem, configurations):
    """Microseconds of each configuration, in turns."""
    memory = Memory(torch, problem)
    kernels = built(options, problem, configurations)
    times = []
    for place in range(options.places):
        tensors = dict(memory.tensors(place))
        sides = [compare.Kernel(plan, path, tensors) for plan, path in kernels.values()]
        times.append(compare.alternate(sides, options.rounds, flush))
    return {configuration: 1e3 * statistics.fmean(of_one) for configuration, of_one in zip(kernels, zip(*times))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="is made, and keeps all that was measured")
    parser.add_argument("--tma-jit", default="build/bin/tma-jit")
    parser.add_argument("--problems", type=int, default=30)
    parser.add_argument("--skip", type=int, default=0, help="so many of the problems")
    parser.add_argument("--sweep", type=int, default=128)
    parser.add_argument("--sweep-seconds", type=float, default=3600, help="most for the whole sweep")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=7, help="in each place")
    parser.add_argument("--places", type=int, default=12)
    parser.add_argument("--known", action="append", default=[])
    options = parser.parse_args()
    os.makedirs(options.folder)
    models = [p for p in MODELS if 2 * p[0] * p[1] * p[2] < 2e12][:options.problems // 2]
    problems = (models + drawn(2026, options.problems - len(models)))[options.skip:]
    with open(os.path.join(options.folder, "problems.jsonl"), "w", encoding="utf-8") as file:
        for m, n, k in problems:
            file.write(json.dumps({"kernel": "gemm", "dims": {"M": m, "N": n, "K": k}}) + "\n")
    short = ["--budget", str(options.seconds * len(problems))]
    sweep = ["--candidates", str(options.sweep), "--budget", str(options.sweep_seconds)]
    none = ([{"trials": []} for _ in problems], 0)
    runs = [tune(options, "sweep", sweep) if options.sweep else none, tune(options, "tuned", short), tune(options, "again", short)]
    known = {}
    for path in options.known:
        with open(path, encoding="utf-8") as file:
            for entry in json.load(file):
                known.setdefault(tuple(entry["problem"]), []).extend(
                    (name, tuple(map(tuple, params))) for name, params, _ in entry["times"])
    import torch
    import compare
    flush = compare.start(options.rounds)
    print("| M x N x K | measured | best, us | " + " | ".join(COLUMNS) + " |\n|---|---:|---:|" + "---:|" * len(COLUMNS))
    ratios, raced = [], []
    for problem, sweep, tuned, again in zip(problems, *(results for results, _ in runs)):
        trials = measured([sweep])
        best = [configuration(trial) for trial in trials if trial["launches"] >= OFTEN][:BEST]
        chosen = [configuration(result["record"]) for result in (tuned, again)]
        first = [configuration(trial) for trial in tuned["trials"][:8] if trial["outcome"] in ("measured", "out of time")]
        sides = list(dict.fromkeys(best + chosen + first + known.get(tuple(problem), [])))
        times = race(torch, compare, options, flush, problem, sides)
        first = [one for one in first if one in times]
        raced.append({"problem": problem, "times": [[*one, us] for one, us in times.items()]})
        least = min(times.values())
        row = [least / times[one] for one in chosen + first[:1]] + [least / min(times[one] for one in first)]
        ratios.append(row)
        print(f"| {' x '.join(map(str, problem))} | {len(trials)} | {least:.1f} | " + " | ".join(f"{r:.3f}" for r in row) + " |", flush=True)
    with open(os.path.join(options.folder, "raced.json"), "w", encoding="utf-8") as file:
        json.dump(raced, file)
    print("\n| | geometric mean | least |\n|---|---:|---:|")
    for name, column in zip(COLUMNS, zip(*ratios)):
        print(f"| {name} | {mean_and_least(column, ' | ')} |")
    apart = [max(a, b) / min(a, b) for a, b, *_ in ratios]
    print(f"\nTwo fresh tunes differ by more than 1 % in {sum(a > 1.01 for a in apart)} of {len(apart)} problems, by "
          f"{max(apart) - 1:.1%} at most. The best is among the first 8, within 2 %, in "
          f"{sum(row[3] >= 0.98 for row in ratios)} of {len(ratios)}.")
    print("Seconds: " + ", ".join(f"{name} {seconds:.1f}" for name, (_, seconds) in zip(("sweep", "tuned", "again"), runs)))


if __name__ == "__main__":
    main()
