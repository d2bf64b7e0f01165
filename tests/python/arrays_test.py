#!/usr/bin/env python3
"""NumPy's arrays on an emulated device: launches, functions, types, aliases, and what is refused. Needs NumPy and NVRTC."""
import os
import pickle
import tempfile
import threading
import time
import types

import tma_jit
from checks import check, failure_of, needs_nvrtc, run_all, skip
from dlpack_array import DlpackArray

try:
    import numpy as np
except ImportError:
    skip("no NumPy")

ENGINE = tma_jit.Engine("emulator:sm_90a")
DOUBLE = {"apply": "a * 2"}


def counting(n, dtype="float32"):
    return np.arange(n).astype(dtype)


def test_launch():
    a, y = counting(1000), np.zeros(1000, np.float32)
    launch = ENGINE.prepare("map", A=a, Y=y, hooks=DOUBLE)
    check(not y.any(), "prepare launches nothing")
    launch.launch()
    check((y == a * 2).all(), "the results")
    a += 1
    launch()
    check((y == a * 2).all(), "inputs are read at each launch")
    check(launch.plan.kernel == "map" and launch.artifact.as_dict()["form"] == "ptx", repr(launch.plan))


def test_rebind():
    a, b, y = counting(100), counting(100) + 5, np.zeros(100, np.float32)
    launch = ENGINE.prepare("map", A=a, Y=y, hooks=DOUBLE)
    launch.rebind(A=b)
    launch.launch()
    check((y == b * 2).all(), "a rebound input")
    other = np.zeros_like(y)
    launch.rebind(Y=other)
    launch.launch()
    check((other == y).all(), "a rebound output")
    for wrong in (counting(101), counting(100, "float64"), counting(200)[::2]):
        error = failure_of(lambda: launch.rebind(A=wrong), ValueError)
        check("another launch" in str(error), str(error))
    check(failure_of(lambda: launch.rebind(Q=a), tma_jit.errors.NotFound).reason == "unknown_name", "an unknown name")
    launch.launch()
    check((other == b * 2).all(), "a refused rebind changes nothing")


def test_rebind_and_launch():
    """A launch in another thread has the arrays of before a rebind, or those of after it."""
    n = 500
    a = counting(n)
    launch = ENGINE.prepare("map", A=a, Y=np.zeros(n, np.float32), hooks=DOUBLE)
    ended, faults = threading.Event(), []

    def launches():
        try:
            while not ended.is_set():
                launch.launch()
        except tma_jit.Error as fault:
            faults.append(fault)

    threads = [threading.Thread(target=launches) for _ in range(3)]
    for thread in threads:
        thread.start()
    for step in range(300):
        b, y = np.full(n, step, np.float32), np.zeros(n, np.float32)
        launch.rebind(A=b, Y=y)
        launch.launch()
        check((y == 2 * step).all(), f"step {step}")
    ended.set()
    for thread in threads:
        thread.join()
    check(not faults, faults)


def test_columns_of_one_array():
    """What lies between the elements of an output stays as it is: another launch, or the program, may write it meanwhile."""
    n = 50_000
    whole = np.zeros((n, 2), np.float32)
    launch = ENGINE.prepare("copy", S=np.ones((n, 1), np.float32), D=whole[:, :1])
    for step in range(1, 6):
        thread = threading.Thread(target=launch.launch)
        thread.start()
        time.sleep(0.002 * step)
        whole[:, 1] = step
        thread.join()
        check((whole[:, 0] == 1).all() and (whole[:, 1] == step).all(), f"step {step}: {np.unique(whole[:, 1])}")
    blocks = np.full((2, 4, 3, 1, 8), -1, np.float32)
    part, rest = blocks[:, 1:3, :, :, 2:6], np.ones(blocks.shape, bool)
    rest[:, 1:3, :, :, 2:6] = False
    a = counting(part.size).reshape(part.shape)
    ENGINE.prepare("map", A=a, Y=part, hooks=DOUBLE).launch()
    check((part == a * 2).all() and (blocks[rest] == -1).all(), "a block of five dimensions")


def test_scalars():
    x, y = counting(4), np.zeros(4, np.uint64)

    def stored(value):
        ENGINE.prepare("fill", Y=y.reshape(1, 4), types={"F": "s64"}, hooks={"value": "x + static_cast<s64>(seed)"},
                       operands=["seed : u64"], x=0, seed=value).launch()
        return int(y[0])

    for value in (7, 2**63 - 1, 2**63, 2**64 - 1, np.int64(3), np.uint64(2**64 - 2)):
        check(stored(value) == int(value), f"a scalar of {value!r}")
    check("64 bits" in str(failure_of(lambda: stored(2**64), ValueError)), "one that is too large")
    z = np.zeros_like(x)
    ENGINE.prepare("map", A=x, Y=z, hooks={"apply": "a * alpha"}, operands=["alpha : f32"], alpha=np.float32(0.5)).launch()
    check((z == x * 0.5).all(), "a number of NumPy's")


def test_gemm():
    a, b = (np.random.default_rng(i).integers(-4, 5, (72, 64)).astype(np.float16) for i in (1, 2))
    d = np.zeros((72, 72), np.float32)
    bias = counting(72)
    ENGINE.prepare("gemm", A=a, B=b, D=d, bias=bias, alpha=0.5, operands=["bias : f32[N]", "alpha : f32"],
                   hooks={"epilogue": "alpha * x + bias[column]"}).launch()
    check((d == 0.5 * (a.astype(np.float32) @ b.T) + bias).all(), "gemm with operands")


def test_views():
    whole = counting(64 * 32).reshape(64, 32)
    part, to = whole[:, 3:20], np.full((64, 40), -1, np.float32)
    ENGINE.prepare("copy", S=part, D=to[:, 10:27]).launch()
    check((to[:, 10:27] == part).all() and (to[:, :10] == -1).all() and (to[:, 27:] == -1).all(), "slices")
    ENGINE.prepare("map", A=to[:, 10:27], Y=to[:, 10:27], hooks=DOUBLE).launch()
    check((to[:, 10:27] == 2 * part).all(), "in place")


def test_types():
    bits = np.array([0x3F80, 0x4000, 0xC040], np.uint16)  # 1, 2 and -3 as bf16
    y = np.zeros(3, np.float32)
    ENGINE.prepare("map", A=tma_jit.Tensor(bits, dtype="bf16"), Y=y, hooks={"apply": "a"}).launch()
    check(y.tolist() == [1, 2, -3], y)
    check("size" in str(failure_of(lambda: tma_jit.Tensor(bits, dtype="e4m3"))), "a type of another size")
    try:
        import ml_dtypes
    except ImportError:
        return
    a, y = counting(8, ml_dtypes.bfloat16), np.zeros(8, ml_dtypes.bfloat16)
    ENGINE.prepare("map", A=a, Y=y, hooks=DOUBLE).launch()
    check((y == a * 2).all(), "bf16 of ml_dtypes")


def test_dlpack():
    a, y = counting(10), np.zeros(10, np.float32)
    ENGINE.prepare("map", A=DlpackArray(a), Y=DlpackArray(y), hooks=DOUBLE).launch()
    check((y == a * 2).all(), "arrays by DLPack")


def test_function():
    double = ENGINE.function("map", hooks=DOUBLE)
    check(double.tensors == ("A", "B", "C", "D", "Y"), double.tensors)
    for n in (10, 1000, 10):
        a, y = counting(n), np.zeros(n, np.float32)
        double(a, None, None, None, y)
        check((y == a * 2).all(), f"{n} elements")
    check(ENGINE.function("map", params={"INPUTS": 2}, hooks={"apply": "a + b"})(a, a, None, None, y) is None, "two inputs")
    check((y == a + a).all(), "two inputs")
    y[:] = 0
    double(a, y)  # the inputs that are not there may all be left out
    check((y == a * 2).all(), "without the optional tensors")
    check("5" in str(failure_of(lambda: double(y))), "too few tensors")
    check("read-only" in str(failure_of(lambda: double(a, None, None, None, frozen(y)))), "a read-only output")
    check("no tensors" in str(failure_of(lambda: ENGINE.function("map", A=a))), "tensors of a function")
    at_address = tma_jit.Tensor.at(a.ctypes.data, "f32", [n])
    first = ENGINE.function("map", hooks=DOUBLE)  # only the first call of a shape checks addresses
    check("cannot reach" in str(failure_of(lambda: first(at_address, y))), "an address that is the host's")


def test_background():
    arrays = [(counting(n), np.zeros(n, np.float32)) for n in (10, 20, 30)]
    seen = []
    preparation = ENGINE.prepare_async([tma_jit.Request("map", A=a, Y=y, hooks=DOUBLE) for a, y in arrays],
                                       progress=lambda done, total: seen.append((done, total)))
    for i, (a, y) in enumerate(arrays):
        preparation.take(i).launch()
        check((y == a * 2).all(), f"launch {i}")
    check(preparation.wait(10) and len(preparation) == preparation.done == 3, "all are done")
    check(failure_of(lambda: preparation.take(0), tma_jit.errors.NotFound).code == "not_found", "taken twice")
    del preparation  # waits for what tells the progress, too
    check(sorted(seen) == [(1, 3), (2, 3), (3, 3)], seen)


def test_pickled_request():
    request = tma_jit.Request("map", A=counting(10), Y=np.zeros(10, np.float32), hooks=DOUBLE)
    same = pickle.loads(pickle.dumps(request))
    ENGINE.prepare(same).launch()
    tensors = same.__reduce__()[0].keywords["tensors"]
    check((tensors["Y"] == counting(10) * 2).all(), "the arrays of the copy")


def test_function_scalars():
    function = ENGINE.function("map", hooks={"apply": "alpha * a"}, operands=["alpha : f32"], scalars={"alpha": 1})
    a, y = counting(10), np.zeros(10, np.float32)
    for value in (0.5, -2):
        function(a, y, scalars={"alpha": value})
        check((y == value * a).all(), f"alpha = {value}")
    function(a, y)
    check((y == a).all(), "the request's value")
    check("beta" in str(failure_of(lambda: function(a, y, scalars={"beta": 1}), tma_jit.errors.NotFound)), "no such scalar")
    check("scalars cannot be" in str(failure_of(lambda: function(a, y, scalars=3))), "no mapping")


def test_chain():
    n = 10
    a, middle, y = counting(n), np.zeros(n, np.float32), np.zeros(n, np.float32)
    stages = [tma_jit.Request("map", A=a, Y=middle, hooks=DOUBLE), tma_jit.Request("map", A=middle, Y=y, hooks=DOUBLE)]
    chain = ENGINE.chain(stages)
    check(len(chain) == len(chain.plans) == 2, "stages")
    chain.launch()
    check((y == a * 4).all() and (middle == a * 2).all(), "both stages")
    a += 1
    chain()
    check((y == a * 4).all(), "launched again")
    whole, longer = np.zeros(2 * n, np.float32), np.zeros(2 * n, np.float32)
    beyond = [tma_jit.Request("map", A=a, Y=whole[:n], hooks=DOUBLE), tma_jit.Request("map", A=whole, Y=longer, hooks=DOUBLE)]
    check("no stages" in str(failure_of(lambda: ENGINE.chain([]))), "no stages")
    check("stage 2 of 2 (map): it reads A f32[20]" in str(failure_of(lambda: ENGINE.chain(beyond))), "reads beyond what is written")
    output = tma_jit.Request("map", A=a, Y=frozen(y), hooks=DOUBLE)
    check("read-only" in str(failure_of(lambda: ENGINE.chain([output]))), "a read-only output")


def frozen(array):
    view = array.view()
    view.flags.writeable = False
    return view


class Described:
    """An array whose interface is what the caller says."""

    def __init__(self, **described):
        self.__array_interface__ = described

    @property
    def __array_interface__(self):
        return self.described

    @__array_interface__.setter
    def __array_interface__(self, described):
        self.described = described


class Device:
    """An array that says it is in a GPU's memory."""

    def __init__(self, array):
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "version": 3,
                                         "data": (array.ctypes.data, False), "strides": None}

    @property
    def __cuda_array_interface__(self):
        return self.described

    @__cuda_array_interface__.setter
    def __cuda_array_interface__(self, described):
        self.described = described


def test_refusals():
    a, y = counting(100), np.zeros(100, np.float32)

    def refused(words, kind=tma_jit.errors.InvalidArgument, **request):
        error = failure_of(lambda: ENGINE.prepare("map", hooks=DOUBLE, **request).launch(), kind)
        check(words in str(error), str(error))

    refused("tensor A", A=counting(100, "int32"), Y=y)
    refused("complex64", A=counting(100, "complex64"), Y=y)
    refused("of reversed bytes", A=counting(100, ">f4"), Y=y)
    refused("", kind=tma_jit.Error, A=a, Y=np.zeros(101, np.float32))
    refused("read-only", A=a, Y=frozen(y))
    refused("whole number", A=np.zeros(100, "f4, u1")["f0"], Y=y)
    refused("tensor Y is missing", A=a)
    refused("no dimension", A=np.array(3, np.float32), Y=y)
    refused("at most 5", A=np.zeros((1,) * 6, np.float32), Y=y)
    refused("is no array", A=[1.0, 2.0], Y=y)
    refused("in a GPU's memory", A=Device(a), Y=y)
    refused("", kind=tma_jit.Error, A=a, Y=y, file="gemm_wgmma")
    ENGINE.prepare("map", A=frozen(a), Y=y, hooks=DOUBLE).launch()
    check((y == a * 2).all(), "a read-only input")
    backwards = a[::-1]
    try:
        ENGINE.prepare("map", A=backwards, Y=y, hooks=DOUBLE).launch()
        check((y == backwards * 2).all(), "an array of negative strides")
    except tma_jit.Error:
        pass
    launch = ENGINE.prepare("map", A=a, Y=y, hooks=DOUBLE)
    for stream in ("main", -1, 2**64):
        check("stream" in str(failure_of(lambda: launch.launch(stream=stream), ValueError)), f"{stream!r} as a stream")
    check("-5" in str(failure_of(lambda: launch.rebind(A=-5), ValueError)), "an address")
    at = (a.ctypes.data, False)
    for described in ({"data": None}, {"data": at, "strides": (4, 4)}, {"data": at, "strides": 4}, {"data": (2**70, False)}):
        refused("array interface", A=Described(shape=(100,), typestr="<f4", **described), Y=y)
    refused("complex64", A=a, Y=y, operands=["s : f32"], s=np.complex64(1j))


def test_parts_of_a_request():
    """Lists may be any iterable but a text, and dictionaries any mapping; what is neither is named."""
    a, w, y = counting(10), counting(10), np.zeros(10, np.float32)
    request = {"hooks": {"apply": "a * w[i]"}, "A": a, "Y": y, "w": w}
    for operands in (("w : f32[N]",), {"w : f32[N]"}, (each for each in ["w : f32[N]"])):
        y[:] = 0
        ENGINE.prepare("map", operands=operands, **request).launch()
        check((y == a * w).all(), operands)
    types_of = types.MappingProxyType({"T": "f32"})
    check(ENGINE.plan("map", dims={"N": 4}, types=types_of, hooks=DOUBLE).types["T"] == "f32", "a mapping")
    for wrong in ("w : f32[N]", b"w", 5, [5]):
        check("operands cannot be" in str(failure_of(lambda: ENGINE.prepare("map", operands=wrong, **request), ValueError)), wrong)
    failure_of(lambda: ENGINE.plan("map", operands=(1 / 0 for _ in "a")), ZeroDivisionError)
    for name in ("\udc80", "map\udc80"):
        check("udc80" in str(failure_of(lambda: ENGINE.plan(name), ValueError)), "a name that UTF-8 cannot hold")
        check("udc80" in str(failure_of(lambda: ENGINE.plan("map", **{name: 1}), ValueError)), "a keyword")


def test_empty():
    a, y = np.zeros((0, 5), np.float32), np.zeros((0, 5), np.float32)
    ENGINE.prepare("copy", S=a, D=y).launch()


def test_tune():
    """An emulated device has no clock worth measuring: whatever comes back, progress is told and arrays stay as they are."""
    with tempfile.TemporaryDirectory() as folder:
        engine = tma_jit.Engine("emulator:sm_90a", cache_dir=folder)
        told = []
        request = tma_jit.Request("map", dims={"N": 64}, hooks=DOUBLE)
        results = engine.tune([request], budget_s=120, candidates=1, progress=told.append)
        check(len(results) == 1 and told and "error" not in results[0], results)


def test_tune_with_others():
    """What one process publishes, another takes without measuring; what a function raises comes out of tune."""
    board = {}
    with tempfile.TemporaryDirectory() as folder:
        request = tma_jit.Request("map", dims={"N": 64}, hooks=DOUBLE)
        options = {"budget_s": 120, "candidates": 1, "flush_l2": False}
        led = tma_jit.Engine("emulator:sm_90a", cache_dir=os.path.join(folder, "a")).tune([request], publish=board.__setitem__, **options)
        check("error" not in led[0] and len(board) == 1, led)
        other = tma_jit.Engine("emulator:sm_90a", cache_dir=os.path.join(folder, "b"))
        taken = other.tune([request], fetch=lambda problem, wait_s: board.get(problem), **options)
        check(taken[0]["known"] and taken[0]["record"] == led[0]["record"], taken)
        none = other.tune([request], fetch=lambda problem, wait_s: None, **options)
        check("in time" in none[0]["error"]["message"], none)
        failure_of(lambda: other.tune([request], fetch=lambda problem, wait_s: {}[problem], **options), KeyError)


def test_tune_as_deployed():
    """Work is asked for beside what is measured; the emulator has no graphs to replay launches from."""
    with tempfile.TemporaryDirectory() as folder:
        engine = tma_jit.Engine("emulator:sm_90a", cache_dir=folder)
        request = tma_jit.Request("map", dims={"N": 64}, hooks=DOUBLE)
        options = {"budget_s": 120, "candidates": 1, "flush_l2": False, "again": True}
        lengths = []
        beside = engine.tune([request], beside=lengths.append, **options)
        check("beside other work" in beside[0]["method"] and min(lengths) > 0, beside)
        failure_of(lambda: engine.tune([request], beside=lambda us: 1 / 0, **options), ZeroDivisionError)
        replayed = engine.tune([request], replay=True, **options)
        check("has no graphs" in replayed[0]["error"]["message"], replayed)


if __name__ == "__main__":
    with needs_nvrtc():
        run_all(globals())
