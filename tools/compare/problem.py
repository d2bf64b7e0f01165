"""A problem of a comparison with PyTorch."""
from dataclasses import dataclass, field
from typing import Callable

TORCH = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "u8": "uint8", "s32": "int32", "s64": "int64", "e4m3": "float8_e4m3fn"}


@dataclass
class Problem:
    request: str  # kernel, dims, types and params, as the command takes them
    inputs: dict  # name to (type, shape), of normal random numbers, or to a function of torch that makes the tensor
    outputs: dict  # name to (type, shape)
    peer: Callable  # of torch and the inputs; returns what the outputs hold, a tuple if there are several
    scalars: dict = field(default_factory=dict)  # name to a number, of every scalar of the kernel
    tolerance: float = 6e-3  # of the norm of the difference, relative to the norm of PyTorch's result
