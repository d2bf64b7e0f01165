"""Operators of torch.library made from kernels, so that torch.compile keeps them and knows their results' shapes.

    y = tma_jit.torch.softmax(x)
    d = tma_jit.torch.gemm(a, b, epilogue="fmaxf(x + bias[column], 0)", bias=bias)
    swish = tma_jit.torch.op("mine::swish", "map", hooks={"apply": "a / (1 + __expf(-a))"})

Results are new tensors. All but those that `op` makes are differentiable, gemm without an epilogue.
"""
from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ._torch_attention import attention, attention_ragged
from ._torch_calls import NAMES, TYPES, call, engine_of, has_gradient, result_type, use
from .engine import Engine

__all__ = ["attention", "attention_ragged", "engine_of", "gemm", "layer_norm", "op", "rms_norm", "softmax", "use"]

_Form = tuple[tuple[Any, ...], torch.dtype]  # the extents, which may be symbolic, and the type of a tensor


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
            known.setdefault(declared["type"], NAMES.get(dtype, str(dtype)))
        return [(tuple(_value(extent["text"], names) for extent in output["shape"]),
                 TYPES[self._type(output["type"], known, inputs[0][1])]) for output in self.outputs]

    def _type(self, name: str, known: Mapping[str, str], first: torch.dtype) -> str:
        """A type that no input determines is the first input's where the kernel can have that, else the default."""
        for declared in self.declared["types"]:
            if declared["name"] == name and name not in known:
                like = NAMES.get(first)
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
        call(kernel, same, tensors, given[0].device, values)
        return results[0] if single else tuple(results)

    torch.library.register_fake(name, fake)
    torch.library.impl(name, ("CPU", "CUDA"), real)
    namespace, short = name.split("::")
    return getattr(getattr(torch.ops, namespace), short)  # type: ignore[no-any-return]


_softmax = op("tma_jit::softmax", "softmax")
_rms_norm = op("tma_jit::rms_norm", "rms_norm")
_layer_norm = op("tma_jit::layer_norm", "layer_norm", params={"AFFINE": 2})

_softmax_backward = op("tma_jit::softmax_backward", "softmax_backward")
_rms_norm_backward = op("tma_jit::rms_norm_backward", "rms_norm_backward")
_layer_norm_backward = op("tma_jit::layer_norm_backward", "layer_norm_backward", params={"AFFINE": 2})


def _keep_result(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    ctx.save_for_backward(output)


def _keep_inputs(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    ctx.eps = inputs[-1]
    ctx.save_for_backward(*inputs[:2])


torch.library.register_autograd("tma_jit::softmax", lambda ctx, dy: _softmax_backward(*ctx.saved_tensors, dy.contiguous()),
                                setup_context=_keep_result)
torch.library.register_autograd("tma_jit::rms_norm", lambda ctx, dy: (
    *_rms_norm_backward(*ctx.saved_tensors, dy.contiguous(), ctx.eps), None), setup_context=_keep_inputs)
torch.library.register_autograd("tma_jit::layer_norm", lambda ctx, dy: (
    *_layer_norm_backward(*ctx.saved_tensors, dy.contiguous(), ctx.eps), None), setup_context=_keep_inputs)

# The first factor is [K, M] where `turned` says so, and the second [K, N].
torch.library.define("tma_jit::gemm", "(Tensor a, Tensor b, bool[2] turned, Tensor[] read, str[] operands, str epilogue, "
                     "ScalarType dtype) -> Tensor")


@torch.library.register_fake("tma_jit::gemm")
def _fake_gemm(a: torch.Tensor, b: torch.Tensor, turned: list[bool], read: list[torch.Tensor], operands: list[str], epilogue: str,
               dtype: torch.dtype) -> torch.Tensor:
    return a.new_empty((a.shape[int(turned[0])], b.shape[int(turned[1])]), dtype=dtype)


@torch.library.impl("tma_jit::gemm", ("CPU", "CUDA"))
def _gemm(a: torch.Tensor, b: torch.Tensor, turned: list[bool], read: list[torch.Tensor], operands: list[str], epilogue: str,
          dtype: torch.dtype) -> torch.Tensor:
    d = _fake_gemm(a, b, turned, read, operands, epilogue, dtype)
    names = ["AT" if turned[0] else "A", "BT" if turned[1] else "B"]
    tensors = {names[0]: a, names[1]: b, "D": d} | {each.split(" ")[0]: tensor for each, tensor in zip(operands, read)}
    params = tuple((param, 1) for param, is_turned in zip(("TA", "TB"), turned) if is_turned)
    hooks = (("epilogue", epilogue),) if epilogue else ()
    call("gemm", (("hooks", hooks), ("operands", tuple(operands)), ("params", params)), tensors, a.device)
    return d


class _Gemm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        result: torch.Tensor = torch.ops.tma_jit.gemm(a, b, [False, False], [], [], "", dtype)
        return result

    @staticmethod
    def backward(ctx: Any, dd: torch.Tensor) -> tuple[Any, ...]:
        a, b = ctx.saved_tensors
        dd = dd.contiguous()
        da = torch.ops.tma_jit.gemm(dd.to(a.dtype), b, [False, True], [], [], "", a.dtype) if ctx.needs_input_grad[0] else None
        db = torch.ops.tma_jit.gemm(dd.to(b.dtype), a, [True, True], [], [], "", b.dtype) if ctx.needs_input_grad[1] else None
        return da, db, None


def gemm(a: torch.Tensor, b: torch.Tensor, *, epilogue: str = "", dtype: torch.dtype | None = None,
         **read: torch.Tensor) -> torch.Tensor:
    """epilogue(a @ b.T). The expression sees x, row and column, and the tensors given by name: vectors of b.shape[0] elements
    as bias[column], matrices as up[row, column]."""
    dtype = dtype or result_type(a.dtype)
    if has_gradient(a, b):
        if epilogue:
            raise RuntimeError("gemm has derivatives without an epilogue only: apply the expression to its result, or detach a and b")
        product: torch.Tensor = _Gemm.apply(a, b, dtype)
        return product
    kinds = {name: "[N]" if tensor.dim() == 1 else "[M, N]" for name, tensor in read.items()}
    operands = [f"{name} : {NAMES[tensor.dtype]}{kinds[name]}" for name, tensor in read.items()]
    result: torch.Tensor = torch.ops.tma_jit.gemm(a, b, [False, False], list(read.values()), operands, epilogue, dtype)
    return result


def _rows(x: torch.Tensor) -> torch.Tensor:
    return x.flatten(0, -2) if x.dim() > 1 else x[None]


def softmax(x: torch.Tensor) -> torch.Tensor:
    """torch.softmax(x, -1)."""
    result: torch.Tensor = _softmax(_rows(x)).reshape(x.shape)
    return result


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """torch.nn.functional.rms_norm over the last dimension."""
    result: torch.Tensor = _rms_norm(_rows(x), weight, eps).reshape(x.shape)
    return result


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """torch.nn.functional.layer_norm over the last dimension."""
    result: torch.Tensor = _layer_norm(_rows(x), weight, bias, eps).reshape(x.shape)
    return result
