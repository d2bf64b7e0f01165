#!/usr/bin/env python3
"""Objects that outlive others, threads, forks, and what functions of Python raise. Needs NumPy and NVRTC."""
import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import weakref

import tma_jit
from checks import check, failure_of, needs_nvrtc, run_all, skip

try:
    import numpy as np
except ImportError:
    skip("no NumPy")

DOUBLE = {"apply": "a * 2"}


def engine(**options):
    return tma_jit.Engine("emulator:sm_90a", **options)


def arrays(n=100):
    return np.arange(n, dtype=np.float32), np.zeros(n, np.float32)


def test_outlives_engine():
    a, y = arrays()
    launch = engine().prepare("map", A=a, Y=y, hooks=DOUBLE)
    function = engine().function("map", hooks=DOUBLE)
    gc.collect()
    launch.launch()
    check((y == a * 2).all(), "a launch of a dropped engine")
    function(a + 1, None, None, None, y)
    check((y == a * 2 + 2).all(), "a function of a dropped engine")


def test_recorded_requests():
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "asked.jsonl")
        one = engine(cache_dir=os.path.join(folder, "cache"), record_requests=record)
        for hook in ("a * 2", "a * 3", "a * 2"):
            a, y = arrays()
            one.prepare("map", A=a, Y=y, hooks={"apply": hook})
        with open(record, encoding="utf-8") as lines:
            proof = engine(cache_dir=os.path.join(folder, "cache"), seal="refuse").prove(lines)
        check(proof["there"] == 2 and not proof["missing"], proof)
        proof = engine(cache_dir=os.path.join(folder, "other")).prove([tma_jit.Request("map", A=a, Y=y, hooks={"apply": "a * 2"})])
        check(proof["there"] == 0 and proof["missing"][0]["error"]["code"] == "not_found", proof)


def test_keeps_arrays():
    y = np.zeros(100, np.float32)
    launch = engine().prepare("map", A=np.arange(100, dtype=np.float32), Y=y, hooks=DOUBLE)
    gc.collect()
    launch.launch()
    check(y[99] == 198, "a launch keeps its arrays")


class Server:
    """A program's object that has an engine and what it made, and whose methods the engine calls."""

    def __init__(self):
        self.engine = engine(log=self.log)
        a, y = arrays()
        request = tma_jit.Request("map", tensors={"A": a, "Y": y}, hooks=DOUBLE)
        self.launch, self.function = self.engine.prepare(request), self.engine.function("map", hooks=DOUBLE)
        self.chain = self.engine.chain([request])
        self.preparation = self.engine.prepare_async([request], progress=self.progress)
        self.preparation.wait()

    def log(self, level, text):
        pass

    def progress(self, done, total):
        pass


class Derived(tma_jit.Engine):
    """An engine whose log is a method of its own."""

    def __init__(self):
        super().__init__("h100", use_cache=False, log=self.log, on_sealed_miss=self.log)

    def log(self, *words):
        pass


class Traced(np.ndarray):
    """An array that knows what uses it."""


def test_cycles():
    """Python's collector finds what only refers to itself through engines, launches and their functions."""
    array = np.zeros(100, np.float32).view(Traced)
    array.request, array.tensor = tma_jit.Request("map", A=array), tma_jit.Tensor(array)
    array.launch = engine().prepare("map", A=array, Y=np.zeros(100, np.float32), hooks=DOUBLE)
    kept = [weakref.ref(each) for each in (Server(), Derived(), array)]
    del array
    gc.collect()
    check([each() for each in kept] == [None] * 3, kept)


def test_threads():
    shared = engine()
    a, y = arrays()
    one = shared.prepare("map", A=a, Y=y, hooks=DOUBLE)
    faults = []

    def work(seed):
        try:
            for step in range(5):
                mine, result = arrays(100 + seed + step)
                shared.prepare("map", A=mine, Y=result, hooks=DOUBLE).launch()
                check((result == mine * 2).all(), f"thread {seed}")
                one.launch()
        except BaseException as fault:  # pylint: disable=broad-except
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not faults and (y == a * 2).all(), faults)


def test_lock_is_released():
    """Another thread of Python runs while a launch does: one launch of several, as a busy machine may not run it at once."""
    a, y = arrays(200_000)
    launch = engine().prepare("map", A=a, Y=y, hooks=DOUBLE)
    ended, counted = threading.Event(), [0]

    def count():
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0)  # gives the lock back

    def counted_during_launch():
        before = counted[0]
        launch.launch()
        return counted[0] - before

    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)  # only what releases the lock lets the other thread run
    thread = threading.Thread(target=count)
    thread.start()
    during = any(counted_during_launch() > 0 for _ in range(100))
    ended.set()
    thread.join()
    sys.setswitchinterval(interval)
    check(during, "the lock is held during a launch")


def test_log_raises():
    def log(level, text):
        raise RuntimeError("of the log")

    unraisable, sys.unraisablehook = sys.unraisablehook, lambda fault: seen.append(str(fault.exc_value))
    seen = []
    a, y = arrays()
    engine(log=log, log_level="debug").prepare("map", A=a, Y=y, hooks=DOUBLE).launch()
    sys.unraisablehook = unraisable
    check("of the log" in seen and (y == a * 2).all(), seen)


def tuned(progress):
    return engine(use_cache=False).tune([tma_jit.Request("map", dims={"N": 64}, hooks=DOUBLE)], budget_s=120, candidates=2,
                                        progress=progress)


def test_may_measure():
    """A thread of the engine asks before each step, and measures nothing while the answer is false or an exception."""
    answer, asked, seen = [None], [0], []

    def may_measure():
        asked[0] += 1
        if asked[0] == 1:
            raise RuntimeError("not now")
        return answer[0]

    def wait_for(happened):
        end = time.monotonic() + 100
        while not happened() and time.monotonic() < end:
            time.sleep(0.01)
        return happened()

    unraisable, sys.unraisablehook = sys.unraisablehook, lambda fault: seen.append(str(fault.exc_value))
    with tempfile.TemporaryDirectory() as folder:
        known = engine(cache_dir=folder, tuning="background", tuning_device_share=1, may_measure=may_measure, log_level="off")
        a, y = arrays()
        known.function("map", hooks=DOUBLE)(a, None, None, None, y)
        check(wait_for(lambda: asked[0] > 2) and seen == ["not now"], (asked, seen))
        check(known.stats["problems_tuned"] == 0 and known.stats["tunings_undecided"] == 0, known.stats)
        answer[0] = 1.5  # true
        check(wait_for(lambda: known.stats["problems_tuned"] + known.stats["tunings_undecided"] > 0), known.stats)
    sys.unraisablehook = unraisable


def test_progress_raises():
    def progress(now):
        raise RuntimeError(f"at {now['trial']}")

    check("at 1" in str(failure_of(lambda: tuned(progress), RuntimeError)), "what progress raises ends the tuning")
    check(isinstance(tuned(lambda now: False), list), "False ends the tuning")


def test_keyboard_interrupt():
    def progress(now):
        os.kill(os.getpid(), signal.SIGINT)

    failure_of(lambda: tuned(progress), KeyboardInterrupt)


def unknown_requests(count):
    """Requests that no cache has."""
    a, y = arrays()
    return [tma_jit.Request("map", A=a, Y=y, hooks={"apply": f"a * {i} + {uuid.uuid4().int % 1_000_000}"}) for i in range(count)]


def test_interrupted_wait():
    """Control-C ends a wait for a preparation, before its last request is done."""
    preparation = engine(use_cache=False).prepare_async(unknown_requests(30), threads=1)

    def interrupted():  # at any moment, as a busy machine may not wait yet
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        preparation.wait()

    failure_of(interrupted, KeyboardInterrupt)
    check(preparation.done < 30, preparation.done)


def test_long_waits():
    for limit, count in ((1e-9, 30), (1e300, 1), (float("inf"), 1)):  # 30 take longer than a busy machine may let a short wait last
        preparation = engine(use_cache=False).prepare_async(unknown_requests(count), threads=1)
        check(preparation.wait(limit) == (limit > 1), f"a wait of {limit} s")
    check("nan" in str(failure_of(lambda: preparation.wait(float("nan")), ValueError)), "a wait of nan")
    check(preparation.wait(-1), "no wait for what is done")


def test_warm_ends():
    """What progress raises comes out of `warm` as soon as the builds that have begun have ended."""
    known = engine(use_cache=False)
    failure_of(lambda: known.warm(unknown_requests(30), threads=1, progress=lambda done, total: 1 / 0), ZeroDivisionError)
    check(known.stats["compiles"] < 10, known.stats)


def test_fork():
    used = engine()
    a, y = arrays()
    launch = used.prepare("map", A=a, Y=y, hooks=DOUBLE)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            fresh, result = arrays()
            engine().prepare("map", A=fresh, Y=result, hooks=DOUBLE).launch()
            status = 0 if (result == fresh * 2).all() else 2
            try:
                launch.launch()  # of the parent's device: works or says why not
            except tma_jit.Error:
                pass
        finally:
            os._exit(status)
    check(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "an engine of a child")
    launch.launch()
    check((y == a * 2).all(), "the parent after a fork")


SUBINTERPRETER = """
import sys
try:
    import _interpreters
    other, run = _interpreters.create("legacy"), _interpreters.exec
except ImportError:
    import _xxsubinterpreters as _interpreters
    other, run = _interpreters.create(isolated=False), _interpreters.run_string
import tma_jit
request = tma_jit.Request("map", dims={"N": 64}, hooks={"apply": "a"})
failed = run(other, f"import sys; sys.path[:] = {sys.path}\\ntry:\\n import tma_jit\\nexcept ImportError as error:\\n"
                    " assert 'subinterpreter' in str(error)\\nelse:\\n raise AssertionError('imported')")
assert failed is None, failed
tma_jit.Engine("h100", use_cache=False).plan(request)
"""


def test_subinterpreter():
    """A second interpreter of a process is refused, and the first works on."""
    ended = subprocess.run([sys.executable, "-c", SUBINTERPRETER], capture_output=True, text=True, timeout=100, check=False)
    check(ended.returncode == 0, ended.stderr)


ENDS = """
import tma_jit
known = tma_jit.Engine("h100", use_cache=False, log=print, log_level="debug")
requests = [tma_jit.Request("map", dims={"N": 64}, hooks={"apply": f"a * {i}"}) for i in range(50)]
preparation = known.prepare_async(requests, progress=lambda done, total: sum(range(100000)))
"""


DAEMONS = """
import threading, time
import numpy as np
import tma_jit
engine = tma_jit.Engine("emulator:sm_90a", use_cache=False)
a, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
def serve():
    launch = engine.prepare("map", A=a, Y=y, hooks={"apply": "a * 2"})
    while True:
        launch.launch()
for _ in range(8):
    threading.Thread(target=serve, daemon=True).start()
time.sleep(0.5)
"""


def test_end_with_daemons():
    """A program may end while daemon threads of it are in the library."""
    for _ in range(5):
        ended = subprocess.run([sys.executable, "-c", DAEMONS], capture_output=True, text=True, timeout=100, check=False)
        check(ended.returncode == 0 and not ended.stderr, (ended.returncode, ended.stderr))


def test_end():
    """A program may end while threads of the library call its functions."""
    ended = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=100, check=False)
    check(ended.returncode == 0 and not ended.stderr, ended.stderr)


if __name__ == "__main__":
    with needs_nvrtc():
        run_all(globals())
