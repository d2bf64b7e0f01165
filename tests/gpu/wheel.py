#!/usr/bin/env python3
"""An installed package on a GPU with PyTorch: gemm by DLPack, what Python adds to a launch, and CuPy's and JAX's arrays.

Run it where the package is installed: python3 tests/gpu/wheel.py. The command of the package measures what the same launch
costs in C++ (`bench`, host time). Ends with 77 where there is no PyTorch or no device.
"""
import json
import os
import statistics
import subprocess
import sys
import time

import tma_jit

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from dlpack_array import DlpackArray

BATCH, ROUNDS = 20, 300  # launches that never fill the queue; their median counts


def check_gemm(torch, engine, m, n, k):
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
    d = torch.full((m, n), float("nan"), dtype=torch.bfloat16, device="cuda")
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    engine.prepare("gemm", A=DlpackArray(a), B=DlpackArray(b), D=DlpackArray(d)).launch(stream)
    stream.synchronize()
    expected = torch.matmul(a, b.T).float()
    error = ((d.float() - expected).norm() / expected.norm()).item()
    print(f"gemm {m} x {n} x {k} by DLPack: differs from torch.matmul by {error:.1e}")
    assert error < 4e-3


def check_cupy(engine):
    try:
        import cupy
    except ImportError:
        print("skipped: no CuPy")
        return
    a = cupy.arange(100_000, dtype=cupy.float32)
    y, stream = cupy.zeros_like(a), cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.get_current_stream().synchronize()
    engine.prepare("map", A=a, Y=y, hooks={"apply": "a * 2"}).launch(stream)
    stream.synchronize()
    assert (y == a * 2).all()
    print("map on CuPy's arrays and stream")


def check_jax(torch, engine):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    try:
        import jax
    except ImportError:
        print("skipped: no JAX")
        return
    device, n = jax.devices("gpu")[0], 1 << 22

    @jax.jit
    def made(x):
        return jax.numpy.sin(x) + 1

    a = made(jax.numpy.arange(n, dtype=jax.numpy.float32)).block_until_ready()
    y = torch.full((n,), float("nan"), device="cuda")
    launch = engine.prepare("map", A=a, Y=y, hooks={"apply": "a * 2"})
    torch.cuda.synchronize()
    launch.launch(device)  # on JAX's stream
    doubled = jax.dlpack.from_dlpack(y)
    assert (doubled == a * 2).all()
    print("map of JAX's array on JAX's stream, and its result as an array of JAX")
    launch.launch(torch.cuda.current_stream())
    assert torch.equal(y, torch.from_dlpack(a) * 2)
    print("map of JAX's array on PyTorch's stream")


def microseconds(torch, call):
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(BATCH):
            call()
        times.append((time.perf_counter() - begin) / BATCH * 1e6)
        torch.cuda.synchronize()
    return statistics.median(times)


def calls(torch, engine):
    side = 64
    a, b, d = (torch.zeros(side, side, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    command = os.path.join(os.path.dirname(tma_jit.__file__), "tma-jit")
    words = ["bench", "gemm", *(f"{dim}={side}" for dim in "MNK"), "--device", "0", "--json"]
    native = min(json.loads(subprocess.check_output([command, *words]))["host_us"] for _ in range(3))
    stream = torch.cuda.current_stream()
    launch, function = engine.prepare("gemm", A=a, B=b, D=d), engine.function("gemm")
    rows = {"launch()": (launch.launch, 2), "launch(stream)": (lambda: launch.launch(stream), 2),
            "gemm(a, b, d)": (lambda: function(a, b, d), 4), "gemm(a, b, d, stream=stream)": (lambda: function(a, b, d, stream=stream), 4),
            "torch.mm(a, b, out=d)": (lambda: torch.mm(a, b, out=d), None)}
    print(f"| call | us | beyond C++'s launch, {native:.2f} us |\n|---|---:|---:|")
    faults = []
    for name, (call, most) in rows.items():
        took = min(microseconds(torch, call) for _ in range(3))
        print(f"| {name} | {took:.2f} | {took - native:.2f} |")
        if most is not None and took - native > most:
            faults.append(name)
    return faults


def main():
    try:
        import torch
    except ImportError:
        print("skipped: no PyTorch")
        sys.exit(77)
    if not torch.cuda.is_available():
        print("skipped: no device")
        sys.exit(77)
    print(f"tma_jit {tma_jit.__version__} of {os.path.dirname(tma_jit.__file__)}, Python {sys.version.split()[0]}, PyTorch "
          f"{torch.__version__}, {torch.cuda.get_device_name()}")
    engine = tma_jit.Engine(use_cache=False)
    for problem in ((512, 384, 256), (4096, 4096, 4096), (1000, 1001, 1003)):
        check_gemm(torch, engine, *problem)
    faults = calls(torch, engine)
    check_cupy(engine)
    check_jax(torch, engine)
    assert not faults, faults


if __name__ == "__main__":
    main()
