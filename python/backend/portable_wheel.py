"""The build backend of the package: scikit-build-core, whose wheels auditwheel then names after the oldest C library they serve.

Everything but the C library is linked in, so that nothing is copied into the wheel. libcurl is the machine's own, because it knows
where that machine keeps its trusted certificates; without one the wheel works, and only servers of kernels are not reached. A
wheel that auditwheel refuses, as of a build with shared dependencies, is left as it is, for this machine.
"""
import os
import subprocess
import sys
import tempfile

from scikit_build_core.build import *  # noqa: F403
from scikit_build_core import build as _build


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    made = _build.build_wheel(wheel_directory, config_settings, metadata_directory)
    path = os.path.join(wheel_directory, made)
    with tempfile.TemporaryDirectory() as folder:
        repaired = subprocess.run(
            [sys.executable, "-m", "auditwheel", "repair", "--strip", "--exclude", "libcurl.so.4", "-w", folder, path],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        wheels = os.listdir(folder)
        if repaired.returncode != 0 or len(wheels) != 1:
            print(f"this wheel is for this machine only: {repaired.stdout.strip()}", file=sys.stderr)
            return made
        os.remove(path)
        with open(os.path.join(folder, wheels[0]), "rb") as source, open(os.path.join(wheel_directory, wheels[0]), "wb") as target:
            target.write(source.read())
        return wheels[0]
