#!/usr/bin/env python3
"""The objects that stand for a stream, as each library makes them. Needs NumPy and NVRTC."""
import tma_jit
from checks import check, failure_of, needs_nvrtc, run_all, skip

try:
    import numpy as np
except ImportError:
    skip("no NumPy")


class Torch:
    cuda_stream = 0


class Cupy:  # ptr in every version; the protocol since 14
    ptr = 0

    def __cuda_stream__(self):
        raise AssertionError("ptr is enough")


class Protocol:
    """An object of cuda.core, or of any library that follows its protocol: its version, and the address."""

    def __cuda_stream__(self):
        return 0, 0


class JaxDevice:
    def get_stream_for_external_ready_events(self):
        return 0


class JaxCpu:
    def get_stream_for_external_ready_events(self):
        raise RuntimeError("UNIMPLEMENTED: not a device with streams")


def test_streams():
    a, y = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    engine = tma_jit.Engine("emulator:sm_90a")
    launch, function = engine.prepare("map", A=a, Y=y, hooks={"apply": "a * 2"}), engine.function("map", hooks={"apply": "a * 2"})
    for stream in (None, 0, Torch(), Cupy(), Protocol(), JaxDevice()):
        for call in (lambda: launch.launch(stream), lambda: launch(stream), lambda: function(a, y, stream=stream)):
            y[:] = 0
            call()
            check((y == a * 2).all(), stream)
    for wrong in ("main", 1.5, object()):
        error = failure_of(lambda: launch.launch(wrong))
        check("JAX" in str(error) and "__cuda_stream__" in str(error), str(error))
    check("UNIMPLEMENTED" in str(failure_of(lambda: launch.launch(JaxCpu()), RuntimeError)), "what JAX says of a CPU")


if __name__ == "__main__":
    with needs_nvrtc():
        run_all(globals())
