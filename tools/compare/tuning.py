#!/usr/bin/env python3
"""How good tuned and estimated configurations of gemm are, against a sweep that measures many more.

    tools/compare/tuning.py FOLDER [--tma-jit build/bin/tma-jit] [--problems 30] [--sweep 128] [--seconds 2]

Needs a GPU and PyTorch. Each problem is tuned three times, each time with an empty cache and no records: once with `--sweep`
configurations, and twice as an application would, with `--seconds` for each problem. The four best of the sweep, of those that it
launched often, because the least of a hundred medians of a few launches would be the least noise, then take turns with what
tuning chose and with the planner's first 8, in `--places` places in memory and under both regimes of the clock (clock_race.py): by where its
tensors lie a kernel's time varies, with rows that break L2's lines by up to 9 %, differently for each configuration. Columns: what
tuning chose against the sweep's own winner, and against the best of all that was raced; what a second tune chose, what the planner takes
unmeasured, and the best of the planner's first 8 against the latter.

`--known FILE`, a raced.json of earlier runs, names further configurations to race, and winners of sweeps, in place of a sweep; `--sweep 0`
makes none.
"""
import argparse
import json
import os
import subprocess
import time

from clock_race import Race, against_best, score
from gemm import MODELS, drawn
from ratios import mean_and_least

OFTEN = 20  # launches of a configuration in the sweep
BEST = 4    # configurations of the sweep that are measured again
COLUMNS = ["tuned, against the sweep's winner", "tuned", "tuned again", "estimated", "best of the first 8 estimated"]


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


def report(ratios):
    print("\n| | geometric mean | least | within 2 % |\n|---|---:|---:|---:|")
    for name, column in zip(COLUMNS, zip(*ratios)):
        print(f"| {name} | {mean_and_least(column, ' | ')} | {sum(ratio >= 0.98 for ratio in column)} of {len(column)} |")


def row_of(times, sweep, chosen, first):
    """What COLUMNS name."""
    first = [one for one in first if one in times]
    best_of_first = min(first, key=lambda one: score(times, one, range(len(times[one][0]))))
    winner = [against_best(times, chosen[0], [sweep] if sweep in times else None)]
    return winner + [against_best(times, one) for one in [*chosen, first[0], best_of_first]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="is made, and keeps all that was measured")
    parser.add_argument("--tma-jit", default="build/bin/tma-jit")
    parser.add_argument("--problems", type=int, default=30)
    parser.add_argument("--skip", type=int, default=0, help="so many of the problems")
    parser.add_argument("--sweep", type=int, default=128)
    parser.add_argument("--sweep-seconds", type=float, default=3600, help="most for the whole sweep")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="in each place and regime")
    parser.add_argument("--places", type=int, default=8, help="of long launches")
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
    known, winners = {}, {}
    for path in options.known:
        with open(path, encoding="utf-8") as file:
            for entry in json.load(file):
                if entry.get("winner"):
                    winners[tuple(entry["problem"])] = entry["winner"][0], tuple(map(tuple, entry["winner"][1]))
                known.setdefault(tuple(entry["problem"]), []).extend(
                    (name, tuple(map(tuple, params))) for name, params, _ in entry["times"])
    import torch
    from package import tma_jit
    torch.manual_seed(0)
    engine = tma_jit.Engine(cache_dir=os.path.join(options.folder, "sweep" if options.sweep else "again"), tuning="off")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}\n\n| M x N x K | measured | planned, us | "
          + " | ".join(COLUMNS) + " |\n|---|---:|---:|" + "---:|" * len(COLUMNS))
    ratios, raced, apart = [], [], []
    for problem, sweep, tuned, again in zip(problems, *(results for results, _ in runs)):
        trials = measured([sweep])
        best = [configuration(trial) for trial in trials if trial["launches"] >= OFTEN][:BEST]
        chosen = [configuration(result["record"]) for result in (tuned, again)]
        first = [configuration(trial) for trial in tuned["trials"][:8] if trial["outcome"] in ("measured", "out of time")]
        winner = configuration(sweep["record"]) if "record" in sweep else winners.get(tuple(problem))
        race = Race(torch, engine, problem, list(dict.fromkeys(first[:1] + best + chosen + first + known.get(tuple(problem), [])
                                                               + ([winner] if winner else []))))
        race.check()
        times = race.run(options.places, options.rounds)
        raced.append({"problem": problem, "times": [[*one, us] for one, us in times.items()], "winner": winner, "chosen": chosen})
        row = row_of(times, winner, chosen, first)
        ratios.append(row)
        apart.append(max(against_best(times, chosen[i], [chosen[1 - i]]) for i in range(2)))
        print(f"| {' x '.join(map(str, problem))} | {len(trials)} | {times[first[0]][0][0]:.1f} | " + " | ".join(f"{r:.3f}" for r in row) + " |", flush=True)
        with open(os.path.join(options.folder, "raced.json"), "w", encoding="utf-8") as file:
            json.dump(raced, file)
    report(ratios)
    print(f"\nTwo fresh tunes choose the same in {sum(r == 1 for r in apart)} of {len(apart)} problems, and differ by more than 1 % in "
          f"{sum(r > 1.01 for r in apart)}, by {max(apart) - 1:.1%} at most. The best is among the first 8, within 2 %, in "
          f"{sum(row[4] >= 0.98 for row in ratios)} of {len(ratios)}.")
    print("Seconds: " + ", ".join(f"{name} {seconds:.1f}" for name, (_, seconds) in zip(("sweep", "tuned", "again"), runs)))


if __name__ == "__main__":
    main()
