"""TMA kernels from templates, compiled when they are needed.

    engine = tma_jit.Engine(device="emulator:sm_90a")
    engine.prepare("map", A=a, Y=y, hooks={"apply": "a * 2"}).launch()

docs/python.md explains the package; tma_jit.torch has operators for PyTorch.
"""
from . import _native, errors
from ._native import Artifact, Chain, Function, Launch, Plan, Preparation, Request, Tensor, known_devices, read_records, warm_line
from .engine import Engine
from .errors import Error

__version__: str = _native.version
__commit__: str = _native.commit  # of the sources it was built from, with "-dirty" where they were changed since
__all__ = ["Artifact", "Chain", "Engine", "Error", "Function", "Launch", "Plan", "Preparation", "Request", "Tensor", "__commit__",
           "__version__", "errors", "known_devices", "read_records", "warm_line"]
