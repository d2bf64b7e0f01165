#!/usr/bin/env python3
"""What Python adds to a launch: at most 2 us to a prepared one, 4 us to a call by shape with three tensors.

The problems are empty, so that the library returns before the driver's call: what is left is Python's part and the library's
lookup. The least mean of many batches counts, which other programs on the machine disturb least. Needs NVRTC; takes
PyTorch's tensors, else NumPy's arrays, which are read more slowly because their way is not that of a GPU's tensors.
"""
import timeit

import tma_jit
from checks import check, needs_nvrtc, skip


def matrices():
    try:
        import torch
        return "PyTorch", 4.0, [torch.empty(0, 0, dtype=torch.bfloat16) for _ in range(3)]
    except ImportError:
        pass
    try:
        import numpy
        return "NumPy", 40.0, [tma_jit.Tensor(numpy.empty((0, 0), numpy.uint16), "bf16") for _ in range(3)]
    except ImportError:
        skip("neither PyTorch nor NumPy")


def microseconds(call, batch=2000, batches=100):
    return min(timeit.repeat(call, number=batch, repeat=batches)) / batch * 1e6


class Stream:
    """As PyTorch's and CuPy's streams are read."""
    cuda_stream = 1


def main():
    engine = tma_jit.Engine("emulator:sm_90a")
    library, bound, (a, b, d) = matrices()
    launch, gemm, stream = engine.prepare("gemm", A=a, B=b, D=d), engine.function("gemm"), Stream()
    rows = [("launch()", 2.0, launch.launch), ("launch(stream)", 2.0, lambda: launch.launch(stream)),
            (f"gemm(a, b, d) of {library}", bound, lambda: gemm(a, b, d)),
            (f"gemm(a, b, d, stream=stream) of {library}", bound, lambda: gemm(a, b, d, stream=stream))]
    for name, most, call in rows:
        took = microseconds(call)
        print(f"  {name:45} {took:.2f} us, at most {most:.0f}")
        check(took <= most, f"{name} takes {took} us")


if __name__ == "__main__":
    with needs_nvrtc():
        main()
