"""Attention as an operator of torch.library: masks and scores are texts, and its derivative is attention_backward."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from ._torch_calls import NAMES, call, has_gradient, result_type

# Tensors are [heads of all sequences, tokens, elements], and sums, the logarithms of the sums of weights, [heads, tokens]; those
# are empty unless they are asked for. With `begins` tensors are [tokens of all sequences, heads, elements]: the queries of sequence
# b are those from begins[0][b] to begins[0][b + 1], at most `longest`, and its keys likewise by begins[1].
_GIVEN = "Tensor[] begins, int longest, Tensor[] read, Scalar[] numbers, str[] names, str[] hooks, bool causal, float scale"
torch.library.define("tma_jit::attention", f"(Tensor q, Tensor k, Tensor v, Tensor? sink, bool sums, {_GIVEN}) -> (Tensor, Tensor)")
torch.library.define("tma_jit::attention_backward", "(Tensor q, Tensor k, Tensor v, Tensor o, Tensor sums, Tensor gradient, "
                     f"{_GIVEN}) -> (Tensor, Tensor, Tensor, Tensor)")


class _Given(NamedTuple):
    """The arguments that both operators have."""
    begins: Sequence[torch.Tensor]
    longest: int
    read: Sequence[torch.Tensor]
    numbers: Sequence[Any]
    names: Sequence[str]  # of the tensors `read` and then of `numbers`, which the hooks read
    hooks: Sequence[str]  # each "name=text"
    causal: bool
    scale: float


def _new(like: torch.Tensor, elements: int, dtype: torch.dtype) -> torch.Tensor:
    """A tensor of other elements whose first two dimensions lie in memory in the order of those of `like`."""
    if like.stride(0) < like.stride(1):
        return like.new_empty((like.shape[1], like.shape[0], elements), dtype=dtype).transpose(0, 1)
    return like.new_empty((*like.shape[:2], elements), dtype=dtype)


def _readable(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, or a copy where its rows do not begin at multiples of 16 bytes or lie in one place."""
    if tensor.data_ptr() % 16 == 0 and (tensor.is_contiguous() or tensor.stride(-1) == 1 and all(
            stride > 0 and stride * tensor.element_size() % 16 == 0 or size <= 1
            for stride, size in zip(tensor.stride()[:-1], tensor.shape))):
        return tensor
    return tensor.contiguous()


def _call(kernel: str, tensors: dict[str, torch.Tensor], given: _Given, hooks: Sequence[str], params: dict[str, int],
          dims: dict[str, int]) -> None:
    values = dict(zip(given.names[len(given.read):], given.numbers))
    operands = [f"{name} : {NAMES[tensor.dtype]}{list(tensor.shape)}" for name, tensor in zip(given.names, given.read)]
    operands += [f"{name} : {'f32' if isinstance(value, float) else 's32'}" for name, value in values.items()]
    if given.begins:
        tensors = tensors | {"CU": given.begins[0], "CUK": given.begins[1]}
    params = {name: value for name, value in (params | {"CAUSAL": int(given.causal)}).items() if value}
    parts = (("hooks", tuple(tuple(hook.split("=", 1)) for hook in hooks)), ("operands", tuple(operands)),
             ("params", tuple(params.items())), ("dims", tuple(dims.items())))
    call(kernel, parts, tensors | dict(zip(given.names, given.read)), tensors["Q"].device, {"scale": given.scale, **values})


@torch.library.register_fake("tma_jit::attention")
def _fake_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sink: torch.Tensor | None, sums: bool,
                    *given: Any) -> tuple[torch.Tensor, torch.Tensor]:
    heads, tokens = q.shape[1::-1] if _Given(*given).begins else q.shape[:2]
    return _new(q, v.shape[-1], result_type(q.dtype)), q.new_empty((heads, tokens) if sums else (0,), dtype=torch.float32)


@torch.library.impl("tma_jit::attention", ("CPU", "CUDA"))
def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sink: torch.Tensor | None, sums: bool,
               *given: Any) -> tuple[torch.Tensor, torch.Tensor]:
    o, l = _fake_attention(q, k, v, sink, sums, *given)
    the = _Given(*given)
    tensors = {"Q": _readable(q), "K": _readable(k), "V": _readable(v), "O": o}
    tensors |= ({"L": l} if sums else {}) | ({} if sink is None else {"SINK": sink})
    forward = [hook for hook in the.hooks if not hook.startswith("score_gradient=")]
    params = {"LSE": int(sums), "SINKS": int(sink is not None)}
    if o.numel() > 0 and the.begins:
        bound = 1 << (the.longest - 1).bit_length()  # so that one function serves many lengths
        _call("attention_ragged", tensors, the, forward, params, {"LONGEST": bound})
    elif o.numel() > 0:
        _call("attention", tensors, the, forward, params, {})
    return o, l


@torch.library.register_fake("tma_jit::attention_backward")
def _fake_backward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, o: torch.Tensor, sums: torch.Tensor, gradient: torch.Tensor,
                   *given: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    dq, dk, dv = (_new(of, of.shape[-1], of.dtype) for of in (q, k, v))
    return dq, dk, dv, torch.empty_like(sums)


@torch.library.impl("tma_jit::attention_backward", ("CPU", "CUDA"))
def _backward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, o: torch.Tensor, sums: torch.Tensor, gradient: torch.Tensor,
              *given: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    dq, dk, dv, delta = _fake_backward(q, k, v, o, sums, gradient, *given)
    the = _Given(*given)
    if sums.shape[0] > 0:
        q, k, v, gradient = (_readable(x) for x in (q, k, v, gradient))
        by_heads = [x.transpose(0, 1) if the.begins else x for x in (o, gradient)]
        call("attention_delta", (), {"O": by_heads[0], "DO": by_heads[1], "DELTA": delta}, q.device)
        tensors = {"Q": q, "K": k, "V": v, "DO": gradient, "L": sums, "DELTA": delta, "DQ": dq, "DK": dk, "DV": dv}
        _call("attention_ragged_backward" if the.begins else "attention_backward", tensors, the, the.hooks, {}, {})
    return dq, dk, dv, delta


class _Attention(torch.autograd.Function):
    """tma_jit::attention with sums. torch.library.register_autograd would take 0.3 ms more, as some arguments are lists."""

    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sink: torch.Tensor | None, longest: int,
                texts: tuple[Any, ...], begins: int, *read: torch.Tensor) -> torch.Tensor:
        o: torch.Tensor
        o, sums = torch.ops.tma_jit.attention(q, k, v, sink, True, read[:begins], longest, read[begins:], *texts)
        ctx.longest, ctx.texts, ctx.begins = longest, texts, begins
        ctx.save_for_backward(q, k, v, sink, o, sums, *read)
        return o

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
        q, k, v, sink, o, sums, *read = ctx.saved_tensors
        dq, dk, dv, delta = torch.ops.tma_jit.attention_backward(q, k, v, o, sums, gradient, read[:ctx.begins], ctx.longest,
                                                                 read[ctx.begins:], *ctx.texts)
        of_sink = None
        if sink is not None:
            weights = torch.exp(sink[:, None] - sums.unflatten(0, (-1, *sink.shape)))
            of_sink = -(weights * delta.view(weights.shape)).sum((0, 2))
        return dq, dk, dv, of_sink, None, None, None, *(None for _ in read)


def _attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sink: torch.Tensor | None, begins: list[torch.Tensor], longest: int,
            per: int, texts: dict[str, str], causal: bool, scale: float | None,
            read: dict[str, torch.Tensor | int | float]) -> torch.Tensor:
    hooks = [f"{name}={text}" for name, text in texts.items() if text]
    if "per" not in read and any(re.search(r"\bper\b", hook) for hook in hooks):
        read["per"] = per
    tensors = {name: value for name, value in read.items() if isinstance(value, torch.Tensor)}
    numbers = {name: value for name, value in read.items() if name not in tensors}
    if has_gradient(*tensors.values()):
        raise ValueError(f"attention is not differentiable by what its texts read: detach {', '.join(tensors)}")
    own = [tensor.view(torch.uint8) if tensor.dtype == torch.bool else tensor for tensor in tensors.values()]
    given = ([*numbers.values()], [*tensors, *numbers], hooks, causal, q.shape[-1] ** -0.5 if scale is None else scale)
    result: torch.Tensor
    if has_gradient(q, k, v, sink):
        result = _Attention.apply(q, k, v, sink, longest, given, len(begins), *begins, *own)
    else:
        result, _ = torch.ops.tma_jit.attention(q, k, v, sink, False, begins, longest, own, *given)
    return result


def _one(tensor: torch.Tensor, dim: int) -> bool:
    """Whether the first dimension and another can be read as one."""
    return tensor.shape[dim] == 1 or tensor.stride(0) == tensor.shape[dim] * tensor.stride(dim)


def _begins(batch: torch.Tensor) -> torch.Tensor:
    """Where the sequences of [sequences, heads, tokens, elements] begin if their tokens lie one after the other."""
    sequences, _, tokens, _ = batch.shape
    return torch.arange(0, sequences * tokens + 1, tokens, dtype=torch.int32, device=batch.device)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False, scale: float | None = None, mask: str = "",
              score: str = "", score_gradient: str = "", sink: torch.Tensor | None = None,
              **read: torch.Tensor | int | float) -> torch.Tensor:
    """Attention of [..., heads, tokens, elements], differentiable by q, k, v and sink; heads of queries may share keys and values.

    `mask` and `score` are expressions: whether query q sees key k, and what becomes of their scaled product s. They may name q, k,
    head, which counts the heads of all sequences, per, the heads of one, and the tensors and numbers that are given by name, of
    which another value compiles nothing: mask="k <= q && q - k < window", window=1024. The derivative of a score by s is found
    from its text, or given as `score_gradient`. `sink` is a score of each head of a sequence that takes weight and has no value.

    Tensors whose heads lie within tokens, [sequences, tokens, heads, elements].transpose(1, 2), are read where they are, and the
    result and the gradients lie likewise.
    """
    texts = {"mask": mask, "score": score, "score_gradient": score_gradient}
    heads = q.shape[-3] if q.dim() > 2 else 1
    three = (q, k, v)
    whole = q.is_contiguous() and k.is_contiguous() and v.is_contiguous()
    if (not whole and q.dim() == 4 and q.shape[0] > 1 and q.numel() > 0 and k.numel() > 0 and all(_one(x, 2) for x in three)
            and not all(_one(x, 1) for x in three)):
        begins = _begins(q)
        both = [begins, begins if k.shape[2] == q.shape[2] else _begins(k)]
        flat = [x.transpose(1, 2).flatten(0, 1) for x in three]
        result = _attend(*flat, sink, both, q.shape[2], heads, texts, causal, scale, read)
        return result.unflatten(0, (q.shape[0], q.shape[2])).transpose(1, 2)
    flat = [tensor.flatten(0, -3) if tensor.dim() > 2 else tensor[None] for tensor in three]
    return _attend(*flat, sink, [], 0, heads, texts, causal, scale, read).reshape(*q.shape[:-1], v.shape[-1])


def attention_ragged(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, begins: torch.Tensor, key_begins: torch.Tensor | None = None,
                     longest: int | None = None, *, causal: bool = False, scale: float | None = None, mask: str = "", score: str = "",
                     score_gradient: str = "", sink: torch.Tensor | None = None, **read: torch.Tensor | int | float) -> torch.Tensor:
    """Attention within each of the sequences that lie one after the other in [tokens, heads, elements], as `attention` otherwise.

    Sequence b has the queries from begins[b] to begins[b + 1] and the keys from key_begins[b] to key_begins[b + 1], or from
    begins[b] where key_begins is None: s32 on the device, which begin with 0, do not fall, and end with the number of tokens.
    No sequence has more queries than `longest`; without it, than there are tokens. In the texts q and k count from a sequence's
    first, and head the heads of all sequences.
    """
    texts = {"mask": mask, "score": score, "score_gradient": score_gradient}
    both = [begins, begins if key_begins is None else key_begins]
    return _attend(q, k, v, sink, both, q.shape[0] if longest is None else longest, q.shape[1], texts, causal, scale, read)
