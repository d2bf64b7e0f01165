"""Launches planned and built by the tma-jit command, and the folder of a comparison, which has a file of their plans."""
import json
import os
import subprocess


def prepare(command, request, path):
    """Plans a launch and builds its kernel into `path`; needs no GPU where the request names a device. Returns the plan."""
    plan = json.loads(subprocess.check_output([command, "plan", *request, "--json"]))
    subprocess.check_output([command, "build", *request, "-o", path])
    return plan


def prepare_each(problems, name_of, words_of, options):
    """Prepares the problems whose names contain `options.only`. Returns each with its plan."""
    entries = []
    for problem in problems:
        if options.only in name_of(problem):
            path = os.path.join(options.folder, f"{len(entries)}.cubin")
            entries.append({"problem": problem, "plan": prepare(options.tma_jit, words_of(problem, options), path)})
    return entries


def write_plans(folder, plans):
    with open(os.path.join(folder, "plans.json"), "w", encoding="utf-8") as file:
        json.dump(plans, file)


def read_plans(folder):
    with open(os.path.join(folder, "plans.json"), encoding="utf-8") as file:
        return json.load(file)
