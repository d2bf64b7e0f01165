#!/usr/bin/env python3
"""What a comparison writes of kernels and their peers is what `tma-jit report` reads: a sweep a kind of problem."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/compare"))
from pictured import Pictured


def plan(**dims):
    return {"kernel": "gemm", "arch": "sm_90a", "dims": [{"name": name, "value": value, "fixed": False} for name, value in dims.items()],
            "config": {"BM": 128}, "work": {"flops": 2e9, "bytes": 1e6, "cycles": 1.0}}


def main():
    pictured = Pictured("a GPU", "medians of 3 rounds")
    for side, ms in ((1024, 0.01), (2048, 0.06)):
        pictured.add("squares", plan(M=side, N=side, K=side), ms, {"cuBLAS": ms * 0.9, "a copy": ms * 0.5})
    for rows in (1, 2):
        pictured.add("few rows", plan(M=rows, N=64, K=128), 0.002, {"cuBLAS": 0.003})
    pictured.add("one", plan(M=1, N=2, K=3), 0.001, {})
    with tempfile.TemporaryDirectory() as folder:
        written, page = (os.path.join(folder, name) for name in ("peers.json", "page.html"))
        pictured.write(written)
        with open(written, encoding="utf-8") as file:
            sweeps = [json.loads(line) for line in file]
        assert [sweep["sweep"] for sweep in sweeps] == ["M,N,K", "M", ""], sweeps
        assert sweeps[0]["results"][1]["peers"][0] == {"name": "cuBLAS", "median_us": 54.0}, sweeps[0]
        subprocess.run([sys.argv[1], "report", written, "-o", page], check=True)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        assert "cuBLAS" in text and "few rows; medians of 3 rounds" in text, "the page has no peers"


if __name__ == "__main__":
    main()
