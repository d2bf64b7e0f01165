#!/usr/bin/env python3
"""The C API from ctypes without a GPU: prototypes, plans, errors, builds.

    stages_test.py LIBTMA_JIT.SO C.H

Ends with 77 where there is no NVRTC to build with, after all else has passed.
"""
import ctypes
import os
import sys
import tempfile

import tma_jit
from checks import check, failure_of

EVEN = """//! kernel even "takes even extents"
//! arch sm_90a
//! dim N
//! require N % 2 == 0 "pairs"
//! tensor X : f32[N] out
//! launch grid 1 block 32
extern "C" __global__ void even(View<f32, 1> X, const Dims dims) {}
"""


def test_prototypes(library, header):
    with open(header, encoding="utf-8") as file:
        declared = file.read().count("TMA_JIT_API ")
    check(len(library.functions) == declared, f"{len(library.functions)} prototypes for {declared} functions")
    version = library.ask("version")
    check(f"#define TMA_JIT_VERSION {version}\n" in open(header, encoding="utf-8").read(), f"version {version}")
    for number, name in enumerate(tma_jit.DTYPES):
        check(library.ask("dtype_name", number).decode() == name, name)
    check(library.ask("dtype_name", len(tma_jit.DTYPES)) is None or len(tma_jit.DTYPES) < 100, "dtypes")


def test_plan(engine):
    plan = engine.plan("gemm", dims={"M": 4096, "N": 4096, "K": 4096}, types={"T": "bf16"})
    found = plan.json()
    check(found["kernel"] == "gemm" and found["arch"] == "sm_90a", found)
    check(found["work"]["flops"] == 2.0 * 4096**3, found["work"])
    check(list(plan.geometry().grid) == found["geometry"]["grid"], found["geometry"])
    check(engine.stats().plans == 1, "stats")
    check(engine.device().name == b"h100" and engine.device().multicast == 1, "device")


def test_tensors(engine):
    a, d = (tma_jit.Tensor(0x10000 * i, tma_jit.DTYPES.index("u8"), 1, (100,), (1,)) for i in (1, 2))
    plan = engine.plan("copy", {"S": a, "D": d}).json()
    check(plan["arguments"][0]["shape"] == [100], plan["arguments"])


def test_errors(engine):
    error = failure_of(lambda: engine.plan("gem", dims={"M": 1}))
    check(error.code == "not_found" and "gemm" in str(error), str(error))
    engine.add_template("even.cu", EVEN)
    error = failure_of(lambda: engine.plan("even", dims={"N": 4097}))
    check(error.code == "no_config" and "4097" in error.detail, str(error))
    error = failure_of(lambda: engine.library.call("request_dim", None, "M", 1))
    check(error.code == "invalid_argument" and "request is NULL" in error.message, str(error))
    error = failure_of(lambda: engine.function("gemm"))
    check(error.code == "unsupported" and "by name" in error.message, str(error))


def test_build(library):
    with tempfile.TemporaryDirectory() as folder:
        messages = []
        log = tma_jit.LOG(lambda level, message, user: messages.append((level, message.decode())))
        engine = tma_jit.Engine(library, device="h100", cache_dir=folder, log=log, log_level=3)
        plan = engine.plan("map", dims={"N": 1000}, hooks={"apply": "a * w[i]"}, operands=["w : f32[N]"])
        try:
            cubin = engine.build(plan)
        except tma_jit.Error as error:
            if error.code == "nvrtc":
                return False
            raise
        check(cubin.bytes()[:4] == b"\x7fELF", "the image")
        check(engine.stats().compiles == 1 and engine.build(plan).bytes() == cubin.bytes(), "the second build")
        check(any("compiled map" in message for level, message in messages if level == 3), messages)
        check(engine.environment()["cache"]["dir"] == folder, "the environment")
    return True


def main():
    library = tma_jit.Library(sys.argv[1], sys.argv[2])
    engine = tma_jit.Engine(library, device="h100", no_cache=1)
    test_prototypes(library, sys.argv[2])
    test_plan(engine)
    test_tensors(engine)
    test_errors(engine)
    return 0 if test_build(library) else 77


if __name__ == "__main__":
    sys.exit(main())
