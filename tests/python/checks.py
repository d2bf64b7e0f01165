"""How the Python tests state what must hold, and say that they cannot run."""
import contextlib
import sys

import tma_jit


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def failure_of(action, kind=tma_jit.Error):
    """What must be raised."""
    try:
        action()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


@contextlib.contextmanager
def needs_nvrtc():
    """Ends the process with 77 where there is no NVRTC to build with."""
    try:
        yield
    except tma_jit.errors.LibraryMissing as error:
        skip(error.message)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def run_all(tests):
    """Every function whose name begins with test_, in the order of its module."""
    for name, test in list(tests.items()):
        if name.startswith("test_"):
            test()
            print(f"  {name} passed", flush=True)
