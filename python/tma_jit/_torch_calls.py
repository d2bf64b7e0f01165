"""How tensors of PyTorch come to engines: an engine for each device, and a function for each kernel and its texts."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ._native import Function
from .engine import Engine

TYPES = {"u8": torch.uint8, "s8": torch.int8, "s16": torch.int16, "s32": torch.int32, "s64": torch.int64, "f16": torch.float16,
         "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
NAMES = {dtype: name for name, dtype in TYPES.items()}
_engines: dict[torch.device, Engine] = {}
functions: dict[tuple[Any, ...], Function] = {}


def result_type(of: torch.dtype) -> torch.dtype:
    """The type of what is computed from numbers of 16 bits, or of others."""
    return of if of in (torch.bfloat16, torch.float16) else torch.bfloat16


def has_gradient(*tensors: torch.Tensor | None) -> bool:
    """Whether the derivatives by any of these are asked for."""
    return torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in tensors)


def use(device: str | torch.device, engine: Engine) -> None:
    """Has operators on tensors of a device run on this engine: for options of its own, or an emulated device for "cpu"."""
    device = torch.device(device)
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", torch.cuda.current_device())
    _engines[device] = engine
    functions.clear()


def engine_of(device: torch.device) -> Engine:
    """The engine whose device holds the tensors of `device`; one is made for a GPU that has none."""
    if device not in _engines:
        if device.type != "cuda":
            raise ValueError(f"no engine serves tensors on {device}: tma_jit.torch.use('cpu', tma_jit.Engine('emulator:sm_90a')) "
                             "emulates one")
        _engines[device] = Engine(device)
    return _engines[device]


def _function(device: torch.device, kernel: str, parts: tuple[tuple[str, Any], ...], scalars: Mapping[str, Any]) -> Function:
    """One function serves all values of scalars. `parts` are the keywords of a request, with tuples of pairs in place of dictionaries."""
    key = (device, kernel, parts)
    if key not in functions:
        given = {name: dict(part) if name != "operands" else list(part) for name, part in parts if part}
        functions[key] = engine_of(device).function(kernel, scalars=scalars, **given)
    return functions[key]


def call(kernel: str, parts: tuple[tuple[str, Any], ...], tensors: Mapping[str, torch.Tensor], device: torch.device,
         scalars: Mapping[str, Any] | None = None) -> None:
    function = _function(device, kernel, parts, scalars or {})
    stream = torch._C._cuda_getCurrentRawStream(device.index) if device.type == "cuda" else None
    function(*(tensors.get(name) for name in function.tensors), stream=stream, scalars=scalars)
