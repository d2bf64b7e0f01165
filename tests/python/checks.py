"""How the Python tests state what must hold."""

import tma_jit


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def failure_of(action):
    """The library's error from what must fail."""
    try:
        action()
    except tma_jit.Error as error:
        return error
    raise AssertionError("no error")
