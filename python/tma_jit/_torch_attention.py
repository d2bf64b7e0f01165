"""Attention as an operator of torch.library: masks and scores are texts, and its derivative is attention_backward."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch

from ._torch_calls import NAMES, call, result_type

# `names` are of the tensors `read` and then of `numbers`, which the hooks read; each of `hooks` is "name=text". Heads of
# all sequences are one dimension; `sums` are the logarithms of the sums of weights, empty unless they are asked for.
_GIVEN = "Tensor[] read, Scalar[] numbers, str[] names, str[] hooks, bool causal, float scale"
torch.library.define("tma_jit::attention", f"(Tensor q, Tensor k, Tensor v, Tensor? sink, {_GIVEN}, bool sums) -> (Tensor, Tensor)")
torch.library.define("tma_jit::attention_backward", "(Tensor q, Tensor k, Tensor v, Tensor o, Tensor sums, Tensor gradient, "
                     f"{_GIVEN}) -> (Tensor, Tensor, Tensor, Tensor)")


def _call(kernel: str, tensors: dict[str, torch.Tensor], read: Sequence[torch.Tensor], numbers: Sequence[Any], names: Sequence[str],
          hooks: Sequence[str], params: dict[str, int], scale: float) -> None:
    values = dict(zip(names[len(read):], numbers))
    operands = [f"{name} : {NAMES[tensor.dtype]}{list(tensor.shape)}" for name, tensor in zip(names, read)]
    operands += [f"{name} : {'f32' if isinstance(value, float) else 's32'}" for name, value in values.items()]
    parts = (("hooks", tuple(tuple(hook.split("=", 1)) for hook in hooks)), ("operands", tuple(operands)),
             ("params", tuple((name, value) for name, value in params.items() if value)))
    call(kernel, parts, tensors | dict(zip(names, read)), tensors["Q"].device, {"scale": scale, **values})


@torch.library.register_fake("tma_jit::attention")
def _fake_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sink: torch.Tensor | None, read: list[torch.Tensor],
                    numbers: list[Any], names: list[str], hooks: list[str], causal: bool, scale: float,
                    sums: bool) -> tuple[torch.Tensor, torch.Tensor]:
    return (q.new_empty((*q.shape[:-1], v.shape[-1]), dtype=result_type(q.dtype)),
            q.new_empty(q.shape[:-1] if sums else (0,), dtype=torch.float32))


@torch.library.impl("tma_jit::attention", ("CPU", "CUDA"))
def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sink: torch.Tensor | None, read: list[torch.Tensor],
               numbers: list[Any], names: list[str], hooks: list[str], causal: bool, scale: float,
               sums: bool) -> tuple[torch.Tensor, torch.Tensor]:
    o, l = _fake_attention(q, k, v, sink, read, numbers, names, hooks, causal, scale, sums)
    tensors = {"Q": q, "K": k, "V": v, "O": o} | ({"L": l} if sums else {}) | ({} if sink is None else {"SINK": sink})
    forward = [hook for hook in hooks if not hook.startswith("score_gradient=")]
    if o.shape[0] > 0:
        _call("attention", tensors, read, numbers, names, forward,
              {"CAUSAL": int(causal), "LSE": int(sums), "SINKS": int(sink is not None)}, scale)
    return o, l


@torch.library.register_fake("tma_jit::attention_backward")
def _fake_backward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, o: torch.Tensor, sums: torch.Tensor, gradient: torch.Tensor,
                   read: list[torch.Tensor], numbers: list[Any], names: list[str], hooks: list[str], causal: bool,
                   scale: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    return (q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape), torch.empty_like(sums))


@torch.library.impl("tma_jit::attention_backward", ("CPU", "CUDA"))
def _backward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, o: torch.Tensor, sums: torch.Tensor, gradient: torch.Tensor,
              read: list[torch.Tensor], numbers: list[Any], names: list[str], hooks: list[str], causal: bool,
              scale: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    dq, dk, dv, delta = _fake_backward(q, k, v, o, sums, gradient, read, numbers, names, hooks, causal, scale)
    if q.shape[0] > 0:
        call("attention_delta", (), {"O": o, "DO": gradient, "DELTA": delta}, q.device)
        _call("attention_backward", {"Q": q, "K": k, "V": v, "DO": gradient, "L": sums, "DELTA": delta, "DQ": dq, "DK": dk, "DV": dv},
              read, numbers, names, hooks, {"CAUSAL": int(causal)}, scale)
    return dq, dk, dv, delta


class _Attention(torch.autograd.Function):
    """tma_jit::attention with sums. torch.library.register_autograd would take 0.3 ms more, as some arguments are lists."""

    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sink: torch.Tensor | None, given: tuple[Any, ...],
                *read: torch.Tensor) -> torch.Tensor:
        o: torch.Tensor
        o, sums = torch.ops.tma_jit.attention(q, k, v, sink, read, *given, True)
        ctx.given = given
        ctx.save_for_backward(q, k, v, sink, o, sums, *read)
        return o

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
        q, k, v, sink, o, sums, *read = ctx.saved_tensors
        dq, dk, dv, delta = torch.ops.tma_jit.attention_backward(q, k, v, o, sums, gradient.contiguous(), read, *ctx.given)
        of_sink = None
        if sink is not None:
            weights = torch.exp(sink[:, None] - sums.view(-1, *sink.shape, sums.shape[-1]))
            of_sink = -(weights * delta.view(weights.shape)).sum((0, 2))
        return dq, dk, dv, of_sink, None, *(None for _ in read)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False, scale: float | None = None, mask: str = "",
              score: str = "", score_gradient: str = "", sink: torch.Tensor | None = None,
              **read: torch.Tensor | int | float) -> torch.Tensor:
    """Attention of [..., heads, queries, elements], differentiable by q, k, v and sink; heads of queries may share keys and values.

    `mask` and `score` are expressions: whether query q sees key k, and what becomes of their scaled product s. They may name q, k,
    head, which counts the heads of all sequences, per, the heads of one, and the tensors and numbers that are given by name, of
    which another value compiles nothing: mask="k <= q && q - k < window", window=1024. The derivative of a score by s is found
    from its text, or given as `score_gradient`. `sink` is a score of each head of a sequence that takes weight and has no value.
    """
    texts = {"mask": mask, "score": score, "score_gradient": score_gradient}
    heads = q.shape[-3] if q.dim() > 2 else 1
    if "per" not in read and any(re.search(r"\bper\b", text) for text in texts.values()):
        read["per"] = heads
    tensors = {name: value for name, value in read.items() if isinstance(value, torch.Tensor)}
    numbers = {name: value for name, value in read.items() if name not in tensors}
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors.values()):
        raise ValueError(f"attention is not differentiable by what its texts read: detach {', '.join(tensors)}")
    flat = [tensor.flatten(0, -3) if tensor.dim() > 2 else tensor[None] for tensor in (q, k, v)]
    own = [tensor.view(torch.uint8) if tensor.dtype == torch.bool else tensor for tensor in tensors.values()]
    given = ([*numbers.values()], [*tensors, *numbers], [f"{name}={text}" for name, text in texts.items() if text], causal,
             q.shape[-1] ** -0.5 if scale is None else scale)
    if torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in (q, k, v, sink)):
        result: torch.Tensor = _Attention.apply(*flat, sink, given, *own)
    else:
        result = torch.ops.tma_jit.attention(*flat, sink, own, *given, False)[0]
    return result.reshape(*q.shape[:-1], v.shape[-1])
