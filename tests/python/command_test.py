#!/usr/bin/env python3
"""python -m tma_jit: the command of the package, and that the package imports without what is optional."""
import json
import subprocess
import sys

from checks import check


def run(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


def main():
    listed = run("-m", "tma_jit", "plan", "gemm", "M=64", "N=64", "K=64", "--device", "h100", "--json")
    check(listed.returncode == 0 and json.loads(listed.stdout)["kernel"] == "gemm", listed.stderr)
    doctor = run("-m", "tma_jit", "doctor", "--json")
    check("driver" in json.loads(doctor.stdout), doctor.stdout + doctor.stderr)
    check(run("-m", "tma_jit", "nonsense").returncode != 0, "an unknown verb")
    loaded = run("-c", "import sys, tma_jit; print([name for name in ('numpy', 'torch') if name in sys.modules])")
    check(loaded.stdout.strip() == "[]", loaded.stdout + loaded.stderr)


if __name__ == "__main__":
    main()
