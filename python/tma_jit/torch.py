"""Operators of torch.library made from kernels, so that torch.compile keeps them and knows their results' shapes.

    y = tma_jit.torch.softmax(x)
    d = tma_jit.torch.gemm(a, b, epilogue="fmaxf(x + bias[column], 0)", bias=bias)
    swish = tma_jit.torch.op("mine::swish", "map", hooks={"apply": "a / (1 + __expf(-a))"})

Results are new tensors; none of these operators is differentiable.
"""
from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ._native import Function
from .engine import Engine

_TYPES = {"u8": torch.uint8, "s8": torch.int8, "s16": torch.int16, "s32": torch.int32, "s64": torch.int64, "f16": torch.float16,
          "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_Form = tuple[tuple[Any, ...], torch.dtype]  # the extents, which may be symbolic, and the type of a tensor
_engines: dict[torch.device, Engine] = {}
_functions: dict[tuple[Any, ...], Function] = {}


def use(device: str | torch.device, engine: Engine) -> None:
    """Has operators on tensors of a device run on this engine: for options of its own, or an emulated device for "cpu"."""
    device = torch.device(device)
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", torch.cuda.current_device())
    _engines[device] = engine
    _functions.clear()


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
    if key not in _functions:
        given = {name: dict(part) if name != "operands" else list(part) for name, part in parts if part}
        _functions[key] = engine_of(device).function(kernel, scalars=scalars, **given)
    return _functions[key]


def _call(kernel: str, parts: tuple[tuple[str, Any], ...], tensors: Mapping[str, torch.Tensor], device: torch.device,
          scalars: Mapping[str, Any] | None = None) -> None:
    function = _function(device, kernel, parts, scalars or {})
    stream = torch.cuda.current_stream(device).cuda_stream if device.type == "cuda" else None
    function(*(tensors.get(name) for name in function.tensors), stream=stream, scalars=scalars)


def _pairs(values: Mapping[str, Any] | None) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted((values or {}).items()))


_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv, ast.Mod: operator.mod,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "ceil_div": lambda a, b: (a + b - 1) // b}


def _value(formula: str, names: Mapping[str, Any]) -> Any:
    """The value of a manifest's expression; extents may be symbolic."""
    def value(node: ast.AST) -> Any:
        match node:
            case ast.Expression():
                return value(node.body)
            case ast.Constant():
                return node.value
            case ast.Name() if node.id in names:
                return names[node.id]
            case ast.BinOp():
                return _OPERATORS[type(node.op)](value(node.left), value(node.right))
            case ast.Compare(ops=[one], comparators=[right]):
                return _OPERATORS[type(one)](value(node.left), value(right))
            case ast.BoolOp():
                return (all if isinstance(node.op, ast.And) else any)(value(each) for each in node.values)
            case ast.Call(func=ast.Name()) if node.func.id in _FUNCTIONS:
                return _FUNCTIONS[node.func.id](*(value(each) for each in node.args))
        raise ValueError(f"an operator cannot tell the value of {formula!r} from its inputs")
    return value(ast.parse(formula.replace("&&", " and ").replace("||", " or "), mode="eval"))


class _File:
    """What one template file of a kernel declares, with the params of an operator."""

    def __init__(self, declared: dict[str, Any], params: Mapping[str, int]) -> None:
        self.declared = declared
        self.params = {param["name"]: param["default"] for param in declared["params"]} | dict(params)
        present = [tensor for tensor in declared["tensors"]
                   if tensor["when"] is None or _value(tensor["when"]["text"], self.params)]
        self.inputs = [tensor for tensor in present if not tensor["output"]]
        self.outputs = [tensor for tensor in present if tensor["output"]]

    def results(self, inputs: Sequence[_Form], types: Mapping[str, str]) -> list[_Form] | None:
        """Extents and types of the outputs; None if this file takes inputs of other ranks."""
        names: dict[str, Any] = dict(self.params)
        known = dict(types)
        for declared, (shape, dtype) in zip(self.inputs, inputs):
            if len(declared["shape"]) != len(shape):
                return None
            names |= {extent["text"]: size for extent, size in zip(declared["shape"], shape) if extent["text"].isidentifier()}
            known.setdefault(declared["type"], _NAMES.get(dtype, str(dtype)))
        return [(tuple(_value(extent["text"], names) for extent in output["shape"]),
                 _TYPES[self._type(output["type"], known, inputs[0][1])]) for output in self.outputs]

    def _type(self, name: str, known: Mapping[str, str], first: torch.dtype) -> str:
        """A type that no input determines is the first input's where the kernel can have that, else the default."""
        for declared in self.declared["types"]:
            if declared["name"] == name and name not in known:
                like = _NAMES.get(first)
                return like if like in declared["choices"] else str(declared["default"])
        return known.get(name, name)


@functools.cache
def _declarations() -> list[dict[str, Any]]:
    return [declared for declared in Engine("h100", use_cache=False).kernels() if "error" not in declared]


def op(name: str, kernel: str, *, hooks: Mapping[str, str] | None = None, params: Mapping[str, int] | None = None,
       types: Mapping[str, str] | None = None, operands: Sequence[str] = (), declared: Sequence[dict[str, Any]] | None = None
       ) -> Callable[..., Any]:
    """Registers a kernel as the operator `name` ("namespace::operator") and returns it.

    It takes the kernel's input tensors in order, then the tensors that hooks read, then the scalars, and returns the outputs.
    `declared` are the declarations of a kernel of one's own: `Engine.kernels()` of an engine that has its template.
    """
    files = [_File(each, params or {}) for each in declared or _declarations() if each["kernel"] == kernel]
    if not files:
        raise ValueError(f"no kernel is named {kernel}")
    inputs = [tensor["name"] for tensor in files[0].inputs]
    inputs += [each.split(":")[0].strip() for each in operands if "[" in each]
    scalars = list(files[0].declared["scalars"])
    scalars += [{"name": each.split(":")[0].strip(), "type": each.split(":")[1].strip(), "default": None}
                for each in operands if "[" not in each]
    words = [f"Tensor {each}" for each in inputs]
    for scalar in scalars:
        kind = "float" if "f" in scalar["type"] else "int"
        words.append(f"{kind} {scalar['name']}" + ("" if scalar["default"] is None else f"={scalar['default']}"))
    single = len(files[0].outputs) == 1
    outputs = "Tensor" if single else "(" + ", ".join("Tensor" for _ in files[0].outputs) + ")"
    torch.library.define(name, f"({', '.join(words)}) -> {outputs}")
    same = (("hooks", _pairs(hooks)), ("params", _pairs(params)), ("types", _pairs(types)), ("operands", tuple(operands)))

    def forms(given: tuple[_Form, ...]) -> tuple[_File, list[_Form]]:
        for file in files:
            made = file.results(given, types or {})
            if made is not None:
                return file, made
        raise ValueError(f"{name}: {kernel} takes no tensors of {[len(shape) for shape, _ in given]} dimensions")

    known_forms = functools.lru_cache(maxsize=1024)(forms)

    def fake(*arguments: Any) -> Any:
        given = arguments[:len(inputs)]
        _, made = forms(tuple((tensor.shape, tensor.dtype) for tensor in given))
        results = [given[0].new_empty(shape, dtype=dtype) for shape, dtype in made]
        return results[0] if single else tuple(results)

    def real(*arguments: Any) -> Any:
        given = arguments[:len(inputs)]
        values = {scalar["name"]: scalar["default"] for scalar in scalars}
        values |= dict(zip(values, arguments[len(inputs):]))
        file, made = known_forms(tuple((tensor.shape, tensor.dtype) for tensor in given))
        results = [given[0].new_empty(shape, dtype=dtype) for shape, dtype in made]
        tensors = dict(zip(inputs, given)) | {output["name"]: result for output, result in zip(file.outputs, results)}
        _call(kernel, same, tensors, given[0].device, values)
        return results[0] if single else tuple(results)

    torch.library.register_fake(name, fake)
    torch.library.impl(name, ("CPU", "CUDA"), real)
    namespace, short = name.split("::")
    return getattr(getattr(torch.ops, namespace), short)  # type: ignore[no-any-return]


_softmax = op("tma_jit::softmax", "softmax")
_rms_norm = op("tma_jit::rms_norm", "rms_norm")
_layer_norm = op("tma_jit::layer_norm", "layer_norm", params={"AFFINE": 2})
_attention = op("tma_jit::attention", "attention")
_causal_attention = op("tma_jit::causal_attention", "attention", params={"CAUSAL": 1})

torch.library.define("tma_jit::gemm", "(Tensor A, Tensor B, Tensor[] read, str[] operands, str epilogue, ScalarType dtype) -> Tensor")


@torch.library.register_fake("tma_jit::gemm")
def _fake_gemm(a: torch.Tensor, b: torch.Tensor, read: list[torch.Tensor], operands: list[str], epilogue: str,
               dtype: torch.dtype) -> torch.Tensor:
    return a.new_empty((a.shape[0], b.shape[0]), dtype=dtype)


@torch.library.impl("tma_jit::gemm", ("CPU", "CUDA"))
def _gemm(a: torch.Tensor, b: torch.Tensor, read: list[torch.Tensor], operands: list[str], epilogue: str,
          dtype: torch.dtype) -> torch.Tensor:
    d = a.new_empty((a.shape[0], b.shape[0]), dtype=dtype)
    hooks = (("epilogue", epilogue),) if epilogue else ()
    tensors = {"A": a, "B": b, "D": d} | {each.split(" ")[0]: tensor for each, tensor in zip(operands, read)}
    _call("gemm", (("hooks", hooks), ("operands", tuple(operands))), tensors, a.device)
    return d


def gemm(a: torch.Tensor, b: torch.Tensor, *, epilogue: str = "", dtype: torch.dtype | None = None,
         **read: torch.Tensor) -> torch.Tensor:
    """epilogue(a @ b.T). The expression sees x, row and column, and the tensors given by name: vectors of b.shape[0] elements
    as bias[column], matrices as up[row, column]."""
    kinds = {name: "[N]" if tensor.dim() == 1 else "[M, N]" for name, tensor in read.items()}
    operands = [f"{name} : {_NAMES[tensor.dtype]}{kinds[name]}" for name, tensor in read.items()]
    result: torch.Tensor = torch.ops.tma_jit.gemm(a, b, list(read.values()), operands, epilogue, dtype or (
        a.dtype if a.dtype in (torch.bfloat16, torch.float16) else torch.bfloat16))
    return result


def softmax(x: torch.Tensor) -> torch.Tensor:
    """torch.softmax(x, -1)."""
    result: torch.Tensor = _softmax(x.reshape(-1, x.shape[-1])).reshape(x.shape)
    return result


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """torch.nn.functional.rms_norm over the last dimension."""
    result: torch.Tensor = _rms_norm(x.reshape(-1, x.shape[-1]), weight, eps).reshape(x.shape)
    return result


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """torch.nn.functional.layer_norm over the last dimension."""
    result: torch.Tensor = _layer_norm(x.reshape(-1, x.shape[-1]), weight, bias, eps).reshape(x.shape)
    return result


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False,
              scale: float | None = None) -> torch.Tensor:
    """Attention of [..., heads, queries, elements]; heads of queries may share keys and values."""
    attend = _causal_attention if causal else _attention
    flat = [tensor.reshape(-1, *tensor.shape[-2:]) for tensor in (q, k, v)]
    result: torch.Tensor = attend(*flat, q.shape[-1] ** -0.5 if scale is None else scale).reshape(q.shape)
    return result
