#!/usr/bin/env python3
"""The constants of `tma-jit estimate`: how good they are, and better ones.

    tools/estimate/fit.py score [POINTS...]             the error of each point, and of those that are held out
    tools/estimate/fit.py fit [POINTS...] [-o FILE]     searches constants with less error
    tools/estimate/fit.py rank TUNED... [--templates DIR]
                                                        first and first eight by the estimate, and by the manifest's cycles, here or in DIR

POINTS are files of lines {device, us, request, held_out?}, such as documented.jsonl, the default; TUNED, which are POINTS too, what
measure.sh wrote, with `--problems` and `--device` as it was measured. Of those, each third problem is held out. The command
computes every estimate (`estimate --list --constants`), so that the model is written once.

The search changes one constant at a time by a factor that shrinks, and takes what lowers the mean of |ln(estimate / measured)|^1.5
plus a weak pull to where it began, which keeps constants that no point speaks of.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CONSTANTS = os.path.join(HERE, "../../src/estimation/constants.json")
FIXED = {"shared_bytes_per_cycle", "l2_bytes_per_cycle", "tcgen05_share", "f32_share", "fused_share"}  # by specification, or not measured here
PULL = 0.002  # of a constant's ln(value / first value)^2


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip() and not line.startswith("#")]


def tuned_points(path, options):
    """Every configuration of gemm, but of kernels without estimated cycles only what was planned."""
    with open(path, encoding="utf-8") as file:
        results = json.load(file)["results"]
    points = []
    for number, (request, result) in enumerate(zip(read_lines(options.problems), results)):
        trials = [trial for trial in result.get("trials", []) if trial["outcome"] == "measured" and trial["us"] > 0]
        if not trials:
            continue
        if trials[0]["cycles"] == 0:
            trials = trials[:1]
        for trial in trials:
            line = dict(request, file=trial["file"], params=trial["params"])
            points.append({"device": options.device, "us": trial["us"], "request": line, "held_out": number % 3 == 2,
                           "problem": f"{path}:{number}", "cycles": trial["cycles"], "weight": 1 / len(trials),
                           "launches": trial["launches"]})
    return points


def read_points(options):
    points = []
    for path in options.points:
        points += read_lines(path) if path.endswith(".jsonl") else tuned_points(path, options)
    return points


class Estimates:
    """The command's estimates of points, with any constants."""

    def __init__(self, options, points, folder):
        self.command = [options.tma_jit, "estimate", "--no-cache", "--json"]
        if options.templates:
            self.command += ["--templates", options.templates]
        self.points, self.folder, self.lists = points, folder, {}
        for device in sorted({point["device"] for point in points}):
            self.lists[device] = os.path.join(folder, device + ".jsonl")
            with open(self.lists[device], "w", encoding="utf-8") as file:
                file.writelines(json.dumps(point["request"]) + "\n" for point in points if point["device"] == device)

    def of(self, constants):
        """One estimate for each point, in their order."""
        path = os.path.join(self.folder, "constants.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(constants, file)
        found = {}
        for device, requests in self.lists.items():
            output = subprocess.run([*self.command, "--list", requests, "--device", device, "--constants", path],
                                    stdout=subprocess.PIPE, check=False).stdout
            found[device] = iter(json.loads(output)["estimates"])
        return [next(found[point["device"]]) for point in self.points]


def errors_of(points, estimates):
    """ln(estimate / measured), or None of a point that cannot be planned."""
    return [math.log(one["time_us"] / point["us"]) if "time_us" in one else None for point, one in zip(points, estimates)]


def loss(points, errors):
    terms = [(point.get("weight", 1), abs(error)**1.5) for point, error in zip(points, errors)
             if error is not None and not point.get("held_out")]
    return sum(weight * term for weight, term in terms) / sum(weight for weight, _ in terms)


def summary(points, errors, held_out):
    """Number, median and largest of the relative errors."""
    sizes = sorted(math.expm1(abs(error)) for point, error in zip(points, errors)
                   if error is not None and bool(point.get("held_out")) == held_out)
    return (len(sizes), sizes[len(sizes) // 2], sizes[-1]) if sizes else (0, 0, 0)


def say(points, errors):
    for name, held_out in (("fitted", False), ("held out", True)):
        count, median, worst = summary(points, errors, held_out)
        print(f"{name}: {count} points, median error {median:.1%}, worst {worst:.1%}")


def load_constants(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def score(options):
    points = read_points(options)
    with tempfile.TemporaryDirectory() as folder:
        estimates = Estimates(options, points, folder).of(load_constants(options.constants))
    errors = errors_of(points, estimates)
    for point, one, error in zip(points, estimates, errors):
        request = point["request"]
        words = " ".join(f"{name}={value}" for name, value in [*request["dims"].items(), *request.get("params", {}).items()])
        found = "cannot be planned" if error is None else f"{one['time_us']:10.1f} {math.expm1(error):+7.1%} {one['bound']:13}"
        print(f"{point['device']:5} {point['us']:10.1f} {found} {'held out ' if point.get('held_out') else ''}"
              f"{request['kernel']} {request.get('file', '')} {words}")
    say(points, errors)


def write(constants, path):
    """One constant a line."""
    def entries(values, indent):
        return ",\n".join(f"{indent}{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())

    targets = ",\n".join(f"  {json.dumps(name)}: {{\n{entries(values, '   ')}\n  }}"
                         for name, values in constants["targets"].items())
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{{\n "origin": {json.dumps(constants["origin"])},\n "base": {{\n{entries(constants["base"], "  ")}\n }},\n'
                   f' "targets": {{\n{targets}\n }}\n}}\n')


def fit(options):
    points = read_points(options)
    constants = load_constants(options.constants)
    base = constants["base"]
    names = [name for name in base if name not in FIXED and base[name]["value"] > 0]
    begin = {name: base[name]["value"] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        model = Estimates(options, points, folder)

        def total():
            pulls = sum(math.log(base[name]["value"] / begin[name])**2 for name in names)
            return loss(points, errors_of(points, model.of(constants))) + PULL * pulls / len(names)

        best = total()
        factor = {name: 1.2 for name in names}
        for turn in range(options.turns):
            for name in names:
                old = base[name]["value"]
                for tried in (old * factor[name], old / factor[name]):
                    if name.endswith("_share") and tried > 1:
                        continue
                    base[name]["value"] = float(f"{tried:.4g}")
                    now = total()
                    if now < best:
                        best = now
                        break
                    base[name]["value"] = old
                if base[name]["value"] == old:
                    factor[name] = max(1.002, math.sqrt(factor[name]))
            print(f"turn {turn + 1}: {best:.5f}", flush=True)
        errors = errors_of(points, model.of(constants))
    for name in names:
        if base[name]["value"] != begin[name]:
            base[name]["origin"] = options.origin
        print(f"{name}: {begin[name]:g} -> {base[name]['value']:g}")
    say(points, errors)
    if options.output:
        write(constants, options.output)


def rank(options):
    """Shares of the fastest measured configuration's speed."""
    points = [point for point in read_points(options) if "problem" in point and point["cycles"] > 0]
    with tempfile.TemporaryDirectory() as folder:
        estimates = Estimates(options, points, folder).of(load_constants(options.constants))
    problems, words = {}, {}
    for point, one in zip(points, estimates):
        words[point["problem"]] = " x ".join(str(value) for value in point["request"]["dims"].values())
        if "time_us" in one:
            problems.setdefault(point["problem"], []).append((point["us"], one["cycles"], one["time_us"]))
    print("| M x N x K | configurations | by cycles | first 8 | by the estimate | first 8 |\n|---|---:|---:|---:|---:|---:|")
    columns = [[], [], [], []]
    for problem, rows in problems.items():
        least = min(us for us, _, _ in rows)
        by_cycles, by_time = ([row[0] for row in sorted(rows, key=lambda row: row[column])] for column in (1, 2))
        shares = [least / by_cycles[0], least / min(by_cycles[:8]), least / by_time[0], least / min(by_time[:8])]
        for column, value in zip(columns, shares):
            column.append(value)
        print(f"| {words[problem]} | {len(rows)} | " + " | ".join(f"{value:.3f}" for value in shares) + " |")
    means = [math.exp(sum(map(math.log, column)) / len(column)) for column in columns]
    print("| geometric mean | | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
    print("| least | | " + " | ".join(f"{min(column):.3f}" for column in columns) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["score", "fit", "rank"])
    parser.add_argument("points", nargs="*", default=[os.path.join(HERE, "documented.jsonl")])
    parser.add_argument("--tma-jit", default="build/bin/tma-jit")
    parser.add_argument("--problems", default=os.path.join(HERE, "problems.jsonl"))
    parser.add_argument("--device", default="h200", help="known device that what measure.sh wrote was measured on")
    parser.add_argument("--templates", help="folder of templates that replace the command's")
    parser.add_argument("--constants", default=CONSTANTS, help="where the search begins")
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--origin", default="fitted on an H200", help="said of each constant that the search changes")
    parser.add_argument("-o", "--output", help="file that gets the constants")
    options = parser.parse_intermixed_args()
    {"score": score, "fit": fit, "rank": rank}[options.what](options)


if __name__ == "__main__":
    main()
