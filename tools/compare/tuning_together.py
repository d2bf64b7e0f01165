#!/usr/bin/env python3
"""What happens if processes that need the same kernels start together without records.

    tools/compare/tuning_together.py FOLDER [--tma-jit build/bin/tma-jit] [--processes 8] [--problems 12] [--seconds 1.2]

Needs a GPU. Each process tunes the same products with one file of records, and ends with a plan of each. Printed: how many
measured each problem, whether the plans of all are the same text, how much later than the first the last one ended, and
how long a start takes once all have records.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import time

from gemm import MODELS


def commands(options):
    """The command that tunes all problems, and those that plan each."""
    listed = os.path.join(options.folder, "problems.jsonl")
    problems = [p for p in MODELS if 2 * p[0] * p[1] * p[2] < 5e11][:options.problems]
    with open(listed, "w", encoding="utf-8") as file:
        for problem in problems:
            file.write(json.dumps({"kernel": "gemm", "dims": dict(zip("MNK", problem))}) + "\n")
    records = os.path.join(options.folder, "tuned.jsonl")
    budget = str(options.seconds * len(problems))
    tune = [options.tma_jit, "tune", "--list", listed, "--records", records, "--budget", budget, "--json", "--quiet",
            "--cache-dir", os.path.join(options.folder, "cache")]
    plans = [[options.tma_jit, "plan", "gemm", *(f"{name}={value}" for name, value in zip("MNK", problem)), "--json"]
             for problem in problems]
    return tune, plans, {**os.environ, "TMA_JIT_TUNED": records}


def started(words, environment):
    """What a process prints, and the seconds it takes."""
    begin = time.monotonic()
    output = subprocess.check_output(words, env=environment)
    return output, time.monotonic() - begin


def together(pool, count, words, environment):
    """The outputs of processes started at once, the seconds of each, the shortest first, and those until the last ends."""
    begin = time.monotonic()
    outputs, seconds = zip(*pool.map(lambda _: started(words, environment), range(count)))
    return outputs, sorted(seconds), time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="is made, and keeps the records")
    parser.add_argument("--tma-jit", default="build/bin/tma-jit")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--problems", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=1.2)
    options = parser.parse_args()
    os.makedirs(options.folder)
    tune, plans, environment = commands(options)
    with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
        outputs, seconds, all_of_it = together(pool, options.processes, tune, environment)
        again, restarts, _ = together(pool, options.processes, tune, environment)
        alone = [started(tune, environment)[1] for _ in range(10)]
        texts = [together(pool, options.processes, plan, environment)[0] for plan in plans]
    results = [json.loads(output)["results"] for output in outputs]
    errors = [result["error"]["message"] for one in results for result in one if "error" in result]
    if errors:
        sys.exit("\n".join(errors))
    measured = collections.Counter(sum(not one[index]["known"] for one in results) for index in range(len(plans)))
    chosen = {json.dumps([(result["record"]["file"], result["record"]["params"]) for result in one]) for one in results}
    print(f"{options.processes} processes, {len(plans)} problems, {all_of_it:.1f} s in all")
    print("problems by how many processes measured them: " + ", ".join(f"{count}: {number}" for count, number in sorted(measured.items())))
    print(f"different choices: {len(chosen)}; problems with different plans: {sum(len(set(same)) > 1 for same in texts)}")
    print(f"the first ended after {seconds[0]:.3f} s, the last {1e3 * (seconds[-1] - seconds[0]):.0f} ms later")
    known = all(result.get("known") for output in again for result in json.loads(output)["results"])
    print(f"started again: all known: {known}; {1e3 * restarts[0]:.0f} to {1e3 * restarts[-1]:.0f} ms together, "
          f"{1e3 * sorted(alone)[len(alone) // 2]:.1f} ms alone (median of {len(alone)}, whole process)")


if __name__ == "__main__":
    main()
