#!/usr/bin/env python3
"""The types of the package and of its stubs, by mypy, where that is installed; and a program that misuses them."""
import os
import subprocess
import sys
import tempfile

from checks import check, skip

GOOD = """
import tma_jit

engine = tma_jit.Engine("h100", cache_dir="x", log=lambda level, text: print(level.upper(), text))
launch: tma_jit.Launch = engine.prepare("map", A=object(), hooks={"apply": "a"}, eps=1e-5)
launch.launch(stream=0)
grid: tuple[int, int, int] = engine.plan("gemm", dims={"M": 1}).grid
engine.function("gemm")(1, 2, stream=None)
tma_jit.Error("").suggestion.upper()
"""
BAD = """
import tma_jit

tma_jit.Engine("h100", use_cache="no")
tma_jit.Engine("h100").plan("gemm", hooks=["a"])
tma_jit.Engine("h100").plan("gemm").grid.upper()
"""


def mypy(*words):
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", *words], capture_output=True, text=True,
                          check=False)


def main():
    found = mypy("--version")
    if found.returncode != 0:
        skip("no mypy")
    import tma_jit
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("good.py", GOOD), ("bad.py", BAD)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.environ["MYPYPATH"] = os.path.dirname(tma_jit.__path__[0])
        good = mypy("-p", "tma_jit", "--ignore-missing-imports", "--follow-imports=silent", "--exclude", "torch")
        check(good.returncode == 0, good.stdout + good.stderr)
        good = mypy(os.path.join(folder, "good.py"))
        check(good.returncode == 0, good.stdout + good.stderr)
        bad = mypy(os.path.join(folder, "bad.py"))
        check(bad.stdout.count(": error:") == 3, bad.stdout + bad.stderr)


if __name__ == "__main__":
    main()
