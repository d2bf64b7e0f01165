#!/usr/bin/env python3
"""Kernels that were built before, loaded with the plan that was printed: every kind of argument, and what is refused. Needs NumPy
and NVRTC."""
import json
import os
import tempfile

import tma_jit
from checks import check, failure_of, needs_nvrtc, run_all, skip

try:
    import numpy as np
except ImportError:
    skip("no NumPy")

ENGINE = tma_jit.Engine("emulator:sm_90a")
BARE = tma_jit.Engine("emulator:sm_90a", use_cache=False, nvrtc="/none/libnvrtc.so")  # can compile nothing


def counting(*shape, dtype=np.float32):
    return (np.arange(np.prod(shape)) % 13 - 6).reshape(shape).astype(dtype)


def built(kernel, **request):
    """The plan as text, and the kernel, of a request with arrays."""
    plan = ENGINE.plan(kernel, **request)
    return json.dumps(plan.as_dict()), ENGINE.build(plan).data


def test_views():
    a, y = counting(1000), np.zeros(1000, np.float32)
    plan, kernel = built("map", A=a, Y=y, hooks={"apply": "a * 2"})
    launch = BARE.load(plan, kernel, A=a, Y=y)
    check(not y.any(), "loading launches nothing")
    launch.launch()
    check((y == a * 2).all() and launch.plan.kernel == "map" and not launch.artifact.compiled, "views")
    BARE.load(json.loads(plan), kernel, tensors={"A": y, "Y": a})()
    check((a == y * 2).all(), "a plan as a dict, and other arrays")
    BARE.load(ENGINE.plan("map", A=a, Y=y, hooks={"apply": "a * 2"}), kernel, A=a, Y=y)()
    check((y == a * 2).all(), "a Plan")
    gone = {name: tma_jit.Tensor.at(4096, "f32", [1000]) for name in "AY"}
    BARE.load(ENGINE.plan("map", hooks={"apply": "a * 2"}, **gone), kernel, A=y, Y=a)()
    check((a == y * 2).all(), "a Plan of memory that is gone")


def test_maps_and_operands():
    a, b = counting(72, 64, dtype=np.float16), counting(80, 64, dtype=np.float16)
    d, bias, scale = np.zeros((72, 80), np.float32), counting(80), counting(1, 80)
    words = {"operands": ["bias : f32[N]", "scale : f32[1, N]", "alpha : f32"],
             "hooks": {"epilogue": "alpha * x * scale[row, column] + bias[column]"}}
    plan, kernel = built("gemm", A=a, B=b, D=d, bias=bias, scale=scale, alpha=0.25, **words)
    BARE.load(plan, kernel, A=a, B=b, D=d, bias=bias, scale=scale, alpha=0.5)()
    check((d == 0.5 * (a.astype(np.float32) @ b.T) * scale + bias).all(), "tensor maps, operands and a scalar of another value")
    BARE.load(plan, kernel, A=a, B=b, D=d, bias=bias, scale=scale)()
    check((d == 0.25 * (a.astype(np.float32) @ b.T) * scale + bias).all(), "the plan's scalar")


def test_views_beside_maps():
    s = counting(60, 132)
    d = np.zeros((60, 140), np.float32)[:, :132]
    plan, kernel = built("copy", S=s, D=d)
    BARE.load(plan, kernel, S=s, D=d)()
    check((d == s).all(), "rows at a pitch")


def test_workspace():
    s, d = counting(40_000), np.zeros(1, np.float32)
    request = {"X": s.reshape(1, 40_000, 1), "Y": d.reshape(1, 1)}
    plan, kernel = built("reduce", **request)
    BARE.load(plan, kernel, **request)()
    check(abs(d[0] - s.sum()) < 1e-3, (d, s.sum()))


def test_file():
    a, y = counting(10), np.zeros(10, np.float32)
    plan, kernel = built("map", A=a, Y=y, hooks={"apply": "a + 1"})
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ptx")
        with open(path, "wb") as file:
            file.write(kernel)
        BARE.load(plan, path, A=a, Y=y)()
    check((y == a + 1).all(), "a file")


def test_refusals():
    a, y = counting(10), np.zeros(10, np.float32)
    request = {"A": a, "Y": y, "hooks": {"apply": "a * alpha"}, "operands": ["alpha : f32"], "alpha": 2.0}
    plan, kernel = built("map", **request)
    arrays = {"A": a, "Y": y}

    def refused(words, plan=plan, kernel=kernel, **values):
        error = failure_of(lambda: BARE.load(plan, kernel, **values).launch())
        check(words in str(error), str(error))

    refused("decided by the plan", **arrays, alpha=1.0, hooks={"apply": "a"})
    refused("another type", A=counting(11), Y=y, alpha=1.0)
    refused("Y has no address", A=a, alpha=1.0)
    refused("no tensor or workspace is named Q", **arrays, Q=a, alpha=1.0)
    refused("neither a cubin nor PTX", kernel=b"nothing", **arrays, alpha=1.0)
    refused("the cubin", kernel=b"\x7fELF", **arrays, alpha=1.0)
    cubin = tma_jit.Engine("h100").build("map", dims={"N": 10}, hooks={"apply": "a"}).data
    refused("", kernel=cubin, **arrays, alpha=1.0)
    refused("scalar", plan=ENGINE.plan("map", **request), **arrays, alpha=1.0)
    whole = json.loads(plan)
    refused("parse", plan="{", **arrays)
    for field in ("kernel", "entry", "arch", "dims", "geometry", "arguments"):
        refused("a plan as JSON", plan={name: value for name, value in whole.items() if name != field}, **arrays)
    for change in ({"bytes": 1 << 40}, {"kind": "heap"}, {"dtype": "f33"}, {"strides": [1, 2]}, {"image": "3f"}):
        place = -1 if "image" in change else 0
        arguments = list(whole["arguments"])
        arguments[place] = arguments[place] | change
        refused("a plan as JSON", plan=whole | {"arguments": arguments}, **arrays)
    BARE.load(plan, kernel, **arrays, alpha=3.0)()
    check((y == a * 3).all(), "the same with nothing wrong")


if __name__ == "__main__":
    with needs_nvrtc():
        run_all(globals())
