"""Launches planned and built by the tma-jit command."""
import json
import subprocess


def prepare(command, request, path):
    """Plans a launch and builds its kernel into `path`; needs no GPU where the request names a device. Returns the plan."""
    plan = json.loads(subprocess.check_output([command, "plan", *request, "--json"]))
    subprocess.check_output([command, "build", *request, "-o", path])
    return plan
