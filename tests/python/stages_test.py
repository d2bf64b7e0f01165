#!/usr/bin/env python3
"""The stages from Python without a GPU: plans, declarations, errors, builds. Ends with 77 without NVRTC, after all else."""
import copy
import json
import os
import pickle
import sys
import tempfile

import tma_jit
from checks import check, failure_of, needs_nvrtc, run_all

EVEN = """//! kernel even "takes even extents"
//! arch sm_90a
//! dim N
//! require N % 2 == 0 "pairs"
//! tensor X : f32[N] out
//! launch grid 1 block 32
extern "C" __global__ void even(View<f32, 1> X, const Dims dims) {}
"""
GEMM = {"dims": {"M": 4096, "N": 4096, "K": 4096}, "types": {"T": "bf16"}}


def engine(**options):
    return tma_jit.Engine("h100", **({"use_cache": False} | options))


def test_version():
    check(tma_jit.__version__.count(".") == 2, tma_jit.__version__)
    check("h100" in tma_jit.known_devices(), "known devices")


def test_plan():
    known = engine()
    plan = known.plan("gemm", **GEMM)
    found = plan.as_dict()
    check(plan.kernel == found["kernel"] == "gemm" and plan.arch == "sm_90a", found)
    check(plan.flops == 2.0 * 4096**3, plan.flops)
    check(list(plan.grid) == found["geometry"]["grid"] and plan.params == found["config"], repr(plan))
    check(plan.dims == GEMM["dims"] and plan.types["T"] == "bf16", plan.dims)
    check(known.stats["plans"] == 1 and known.device["name"] == "h100", "the engine's facts")
    check(known.plan(tma_jit.Request("gemm", **GEMM)).params == plan.params, "a request")
    pinned = known.plan("gemm", **GEMM, params={"BM": 64}, file="gemm_wgmma")
    check(pinned.params["BM"] == 64 and pinned.file.endswith("gemm_wgmma.cu"), repr(pinned))
    check(known.candidates("gemm", **GEMM, most=3)[0]["params"] == plan.params, "the first candidate")


def test_tensors():
    a, d = (tma_jit.Tensor.at(0x10000 * i, "u8", [100]) for i in (1, 2))
    plan = engine().plan("copy", S=a, D=d)
    check(plan.as_dict()["arguments"][0]["shape"] == [100], plan.as_dict())
    rows = tma_jit.Tensor.at(0x10000, "bf16", (4, 8), strides=(16, 1))
    check((rows.shape, rows.strides, rows.dtype, rows.address) == ((4, 8), (16, 1), "bf16", 0x10000), "the tensor's fields")
    check(tma_jit.Tensor.at(0, "f32", [2, 3, 4]).strides == (12, 4, 1), "packed strides")


def test_declarations():
    declared = {each["file"].split("/")[-1]: each for each in engine().kernels() if not each.get("probe")}
    check([tensor["name"] for tensor in declared["softmax.cu"]["tensors"]] == ["S", "D"], "softmax's tensors")
    example = engine().example("softmax", types={"T": "bf16"})
    check(engine().plan(example).types["T"] == "bf16", "an example")
    check(len(engine().presets("softmax")) > 10, "presets")


def test_errors():
    known = engine()
    error = failure_of(lambda: known.plan("gem", dims={"M": 1}), tma_jit.errors.NotFound)
    check(isinstance(error, tma_jit.errors.UnknownName) and isinstance(error, LookupError), type(error).__mro__)
    check(error.suggestion == "gemm" and error.code == "not_found" and str(error).startswith("not_found: "), str(error))
    known.add_template("even.cu", EVEN)
    error = failure_of(lambda: known.plan("even", dims={"N": 4097}), tma_jit.errors.NoConfig)
    check("4097" in error.detail, str(error))
    error = failure_of(lambda: known.plan("gemm", dims=5), ValueError)
    check("dims cannot be 5" in str(error), str(error))
    error = failure_of(lambda: known.plan("gemm", "copy"))
    check("by position" in str(error), str(error))
    error = failure_of(lambda: tma_jit.Engine("h100", cache_dri="x"))
    check(error.suggestion == "cache_dir", str(error))
    error = failure_of(lambda: tma_jit.Engine("h1000"), tma_jit.errors.NotFound)
    check(error.code == "not_found", str(error))
    error = failure_of(lambda: tma_jit.Engine("h100", log_level="loud"))
    check("warning" in str(error), str(error))
    error = failure_of(lambda: tma_jit.Tensor.at(0, "bf17", [1]))
    check("bf17" in str(error), str(error))
    check(failure_of(lambda: known.seal("shut")).code == "invalid_argument", "a seal")
    for tuning in ("off", "records", "at_start", "background"):
        engine(tuning=tuning, tuning_budget_s=1, tuning_device_share=0.5, tuning_memory_bytes=1 << 20)
    for options in ({"tuning": "always"}, {"log": 5}, {"seal": "shut"}, {"compile_time_limit_s": 0}, {"compile_time_limit_s": float("nan")},
                    {"cache_bytes": -1}):
        (name, value), = options.items()
        check(f"{name} cannot be {value!r}" in str(failure_of(lambda: engine(**options), ValueError)), options)
    check("udc80" in str(failure_of(lambda: tma_jit.Engine("\udc80"), ValueError)), "a device that UTF-8 cannot hold")
    for folder in (os.fsdecode(b"/none/\xff"), "/none/\0"):
        sys.path.append(folder)
        engine()  # looks for NVRTC there
        sys.path.pop()


def test_pickled_errors():
    """Errors pass between processes, as those of a pool's workers do."""
    error = failure_of(lambda: engine().plan("gem", dims={"M": 1}))
    for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        check(type(same) is type(error) and str(same) == str(error) and vars(same) == vars(error), repr(same))
    own = pickle.loads(pickle.dumps(tma_jit.errors.NotFound("mine")))
    check(type(own) is tma_jit.errors.NotFound and str(own) == "mine", repr(own))


def test_pickled_requests():
    """A request that was pickled or copied has the same plan."""
    known = tma_jit.Engine("h100", use_cache=False)
    whole = tma_jit.Request("map", dims={"N": 64}, types={"T": "bf16"}, params={"THREADS": 128}, operands=["alpha : f32", "n : u64"],
                            scalars={"alpha": 0.5, "n": 2**64 - 1}, hooks={"apply": "alpha * a"}, fixed=["N"], sm_budget=8,
                            untrusted_hooks=True)
    for same in (pickle.loads(pickle.dumps(whole)), copy.copy(whole), copy.deepcopy(whole)):
        check(same.kernel == "map" and same.dims == whole.dims and same.params == whole.params and same.types == whole.types, "fields")
        plans = [str(known.plan(each)) for each in (whole, same)]
        check(plans[0] == plans[1] and known.emit(known.plan(same)) == known.emit(known.plan(whole)), plans)
        check(same.__reduce__()[0].keywords == whole.__reduce__()[0].keywords, "every part")


def test_records():
    with tempfile.TemporaryDirectory() as folder:
        known = tma_jit.Engine("h100", cache_dir=folder)
        check(str(known.tuning_file) == os.path.join(folder, "tuned.jsonl"), known.tuning_file)
        plan = known.plan("gemm", **GEMM)
        record = {"kernel": "gemm", "types": plan.types, "dims": plan.dims}
        error = failure_of(lambda: known.follow([record]), tma_jit.errors.ParseError)
        check(error.code == "parse", str(error))
        check(tma_jit.read_records(os.path.join(folder, "none.jsonl")) == [], "no records")
        line = tma_jit.warm_line(plan)
        check(json.loads(line)["kernel"] == "gemm" and known.warm_requests(line)[0].kernel == "gemm", line)


def test_build():
    with tempfile.TemporaryDirectory() as folder, needs_nvrtc():
        messages = []
        known = tma_jit.Engine("h100", cache_dir=folder, log=lambda level, text: messages.append((level, text)), log_level="info")
        plan = known.plan("map", dims={"N": 1000}, hooks={"apply": "a * w[i]"}, operands=["w : f32[N]"])
        without_limit = engine(compile_time_limit_s=float("inf"))
        check(without_limit.build("map", dims={"N": 10}, hooks={"apply": "a - 5"}).compiled, "no limit of a compile")
        cubin = known.build(plan)
        check(cubin.data[:4] == b"\x7fELF" and cubin.compiled and cubin.spill_bytes == 0, cubin.as_dict())
        again = known.build(plan)
        check(known.stats["compiles"] == 1 and again.data == cubin.data and not again.compiled, known.stats)
        check(any("compiled map" in text for level, text in messages if level == "info"), messages)
        check(known.environment()["cache"]["dir"] == folder, "the environment")
        check(known.explain(plan)["found"] and known.key(plan) == cubin.key, known.explain(plan))
        check("map" in known.emit(plan), "the source")
        error = failure_of(lambda: known.build("map", dims={"N": 10}, hooks={"apply": "a +"}), tma_jit.errors.CompileError)
        check("apply" in str(error), str(error))
        progress = []
        compiled = known.warm([tma_jit.warm_line(plan), tma_jit.Request("map", dims={"N": 10}, hooks={"apply": "a - 1"})],
                              progress=lambda done, total: progress.append((done, total)))
        check(compiled == 1 and progress == [(1, 2), (2, 2)], (compiled, progress))
        proof = known.prove(["# a list\n", "\n", tma_jit.warm_line(plan), tma_jit.Request("map", dims={"N": 10}, hooks={"apply": "a - 2"})])
        check(proof["there"] == 1 and proof["ms"] > 0, proof)
        check([(one["request"], one["error"]["code"]) for one in proof["missing"]] == [(1, "not_found")], proof)
        check(known.stats["compiles"] == 2, "a proof compiles nothing")
        away = tma_jit.Engine("h100", cache_dir=folder, remote="http://me:s3cret@127.0.0.1:1", remote_role="read-only", remote_wait_s=0.5,
                              remote_flush_s=0, log_level="off")
        away.build("map", dims={"N": 10}, hooks={"apply": "a - 3"})
        check(away.stats["cache"]["remote_off"] == 1 and away.stats["compiles"] == 1, away.stats)
        check("both" in str(failure_of(lambda: engine(remote_role="both"))), "a role")
        sealed, missed = tma_jit.Engine("h100", cache_dir=folder, seal="refuse", on_sealed_miss=lambda *miss: missed.append(miss)), []
        sealed.build(plan)
        failure_of(lambda: sealed.build("map", dims={"N": 10}, hooks={"apply": "a - 2"}), tma_jit.errors.SealedError)
        check(missed and missed[0][:2] == ("map", "sm_90a"), missed)


if __name__ == "__main__":
    run_all(globals())
