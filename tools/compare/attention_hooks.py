#!/usr/bin/env python3
"""attention with masks and scores as hooks, beside PyTorch's compiled flex_attention and our own causal attention.

    tools/compare/attention_hooks.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200] [--templates DIR] [--only WORD]
        [--pin "BN=64"]... [--backward] [--kv-heads 16]
    tools/compare/attention_hooks.py measure FOLDER [--rounds 20] [--only WORD]

As attention.py: `prepare` needs no GPU; `measure` needs one, PyTorch and the package tma_jit, times all sides in turn, and
compares results with flex_attention's. Rates are of the pairs of queries and keys that the mask leaves; the last column is the
share of the rate that causal attention of the same length has, by its own pairs. The mask of a problem that is "packed" is bits,
which attention_mask makes beforehand, as flex_attention's block mask is made; the time of both follows the table. With --backward,
attention_delta and attention_backward are prepared, whose times `measure` adds, beside autograd's backward pass alone.
"""
import functools
import os
import subprocess

import attention
from command_line import parser_of, run

HEADS, SIZE, CAP, WINDOW = 16, 128, 20.0, 1024
PACKED = ["--operand", "blocks : u8[1, ceil_div(M, 128), ceil_div(N, 64)]", "--operand", "bits : s32[1, M, ceil_div(N, 32)]",
          "--hook", "mask=packed(blocks[0, q / 128, k / 64], bits[0, q, k / 32], k)"]


def problems():
    """Name to length, and the words of the request."""
    window = ["--operand", "window : s32 = 1024", "--hook", "mask=k <= q && q - k < window"]
    documents = ["--operand", "document : s32[N]", "--hook", "mask=document[q] == document[k]"]
    fourth = ["--hook", "mask=k <= q && (q - k) % 4 == 0"]
    cap = ["CAUSAL=1", "--operand", "cap : f32 = 20", "--hook"]
    return {
        "window 1024 at 32768": (32768, window),
        "window 1024 at 8192": (8192, window),
        "causal as a mask at 8192": (8192, ["--hook", "mask=k <= q"]),
        "prefix 2048 at 8192": (8192, ["--operand", "prefix : s32 = 2048", "--hook", "mask=k < prefix || k <= q"]),
        "causal documents at 32768": (32768, ["--operand", "first : s32[N]", "--hook", "mask=k >= first[q] && k <= q"]),
        "documents at 32768": (32768, documents),
        "every fourth at 8192": (8192, fourth),
        "window 1024 at 32768, packed": (32768, window),
        "window 1024 at 8192, packed": (8192, window),
        "documents at 32768, packed": (32768, documents),
        "every fourth at 8192, packed": (8192, fourth),
        "softcap(s, cap), causal at 8192": (8192, [*cap, "score=softcap(s, cap)"]),
        "softcap_approx(s, cap), causal at 8192": (8192, [*cap, "score=softcap_approx(s, cap)"]),
        "softcap by tanh, causal at 8192": (8192, [*cap, "score=cap * tanh(s / cap)"]),
        "ALiBi, causal at 8192": (8192, ["CAUSAL=1", "--operand", "slope : f32[HEADS]", "--hook", "score=s - slope[head] * (q - k)"]),
    }


def prepare(options):
    entries = []
    for name, (length, words) in problems().items():
        if options.only not in name:
            continue

        def built(kernel, words, length=length):
            return attention.built(options, [kernel, f"HEADS={HEADS}", f"KV_HEADS={options.kv_heads}", f"M={length}", f"N={length}",
                                             f"HD={SIZE}", *words])
        kernel = "attention_backward" if options.backward else "attention"
        common = {"problem": name, "kv_heads": options.kv_heads, "causal": built(kernel, ["CAUSAL=1"])}
        if name.endswith("packed"):
            common["mask"] = attention.built(options, ["attention_mask", "HEADS=1", f"M={length}", f"N={length}", *words])
            words = PACKED
        if options.backward:
            common["forward"] = built("attention", [*words, "LSE=1"])
            common["delta"] = attention.built(options, ["attention_delta", f"HEADS={HEADS}", f"M={length}", f"HD={SIZE}"])
        for pin in options.pin or [""]:
            try:
                entries.append({"pin": pin, **common, **built(kernel, [*words, *pin.split()])})
            except subprocess.CalledProcessError:
                print(f"{name}: no plan for {pin}")
    return entries


def modifications(torch, name, operands):
    """flex_attention's mask_mod and score_mod, the latter None where there is none."""
    document, first, slope = operands["document"], operands["first"], operands["slope"]

    def causal(batch, head, q, k):
        return q >= k
    masks = {
        "window": lambda batch, head, q, k: (q >= k) & (q - k < WINDOW),
        "prefix": lambda batch, head, q, k: (k < 2048) | (q >= k),
        "causal documents": lambda batch, head, q, k: (k >= first[q]) & (q >= k),
        "documents": lambda batch, head, q, k: document[q] == document[k],
        "every fourth": lambda batch, head, q, k: (q >= k) & ((q - k) % 4 == 0),
    }
    scores = {
        "softcap": lambda s, batch, head, q, k: CAP * torch.tanh(s / CAP),
        "ALiBi": lambda s, batch, head, q, k: s - slope[head] * (q - k),
    }
    mask = next((mask for word, mask in masks.items() if name.startswith(word)), causal)
    return mask, next((score for word, score in scores.items() if name.startswith(word)), None)


def pairs_of(torch, mask, length):
    """The number of pairs of queries and keys that a mask leaves."""
    k = torch.arange(length, device="cuda")
    return sum(int(mask(0, 0, q[:, None], k[None, :]).sum()) for q in k.split(1024))


def tensors_of(torch, length, kv_heads, backward):
    """q, k, v and the gradient of o; what the kernels make; and all that they and the masks read, by name."""
    torch.manual_seed(length)  # the same documents whatever reads them
    given = [torch.randn(1, heads, length, SIZE, device="cuda").bfloat16() for heads in (HEADS, kv_heads, kv_heads, HEADS)]
    made = [torch.empty_like(x[0]) for x in (given[:3] if backward else given[:1])]
    starts = torch.cat((torch.zeros(1, dtype=torch.int64), torch.randperm(length - 1)[:length // 2048] + 1)).sort().values.cuda()
    document = (torch.searchsorted(starts, torch.arange(length, device="cuda"), right=True) - 1).int()
    bits = torch.empty(1, length, length // 32, dtype=torch.int32, device="cuda")
    blocks = torch.empty(1, length // 128, length // 64, dtype=torch.uint8, device="cuda")
    tensors = {"BITS": bits, "BLOCKS": blocks, "bits": bits, "blocks": blocks, "document": document,
               "first": starts[document.long()].int(), "slope": torch.exp2(-8.0 * torch.arange(1, HEADS + 1, device="cuda") / HEADS),
               **{name: x[0] for name, x in zip(("Q", "K", "V", "DO"), given)}, "O": made[0]}
    if backward:
        numbers = {name: torch.empty(HEADS, length, device="cuda") for name in ("L", "DELTA")}
        tensors |= {"O": torch.empty_like(given[0][0]), **numbers, **dict(zip(("DQ", "DK", "DV"), made))}
    return given, made, tensors


def measured(compare, torch, flex, options, name, entries, flush):
    length, kv_heads, backward = problems()[name][0], entries[0]["kv_heads"], "delta" in entries[0]
    (*inputs, gradient), made, tensors = tensors_of(torch, length, kv_heads, backward)
    scalars = {"scale": SIZE ** -0.5, "window": WINDOW, "prefix": 2048, "cap": CAP}

    def kernel(entry):
        return compare.Kernel(entry["plan"], os.path.join(options.folder, entry["cubin"]), tensors, scalars)
    mask, score = modifications(torch, name, tensors)
    make_blocks = torch.compile(flex.create_block_mask)

    def blocks_of_peer():
        return make_blocks(mask, None, None, length, length, device="cuda")
    block_mask = blocks_of_peer()
    if "mask" in entries[0]:
        bits_made, blocks_made = compare.alternate([kernel(entries[0]["mask"]), blocks_of_peer], options.rounds, flush)
        options.masks.append(f"{name}: attention_mask {bits_made * 1e3:.1f} us, create_block_mask {blocks_made * 1e3:.1f} us")
    compiled = torch.compile(flex.flex_attention, dynamic=False)
    for tensor in inputs:
        tensor.requires_grad_(backward)

    def attend():
        return compiled(*inputs, score_mod=score, block_mask=block_mask, enable_gqa=kv_heads != HEADS)
    all_ours = [*entries, entries[0] | entries[0]["causal"]]
    if backward:
        torch._functorch.config.donated_buffer = False  # which would forbid the peer's second backward pass
        kernels, calls = attention.backward_kernels(compare, options, all_ours, tensors, scalars)
        peer = functools.partial(torch.autograd.grad, attend(), inputs, gradient, retain_graph=True)
        attention.compare_gradients(compare, torch, entries, calls, made, [x[0].float() for x in peer()])
    else:
        calls = kernels = [kernel(entry) for entry in all_ours]
        peer = attend
        attention.compare_results(compare, torch, entries, kernels, made[0], peer()[0].float())
    *times, whole, theirs = compare.alternate([*calls, peer], options.rounds, flush)
    pairs = pairs_of(torch, mask, length)
    products = 10e-9 if backward else 4e-9
    rate, full = products * HEADS * SIZE * pairs, products * HEADS * SIZE * length * (length + 1) / 2
    for entry, side, time in zip(entries, kernels, times):
        options.pictured.add(name, entry["plan"], time, {"flex_attention": theirs, "our causal attention": whole})
        print(f"| {name} | {time * 1e3:.1f} | {rate / time:,.0f} | {theirs * 1e3:.1f} | {theirs / time:.2f} | {whole * 1e3:.1f} | "
              f"{rate / time / (full / whole):.2f} | {side.config} |", flush=True)


def measure(compare, torch, options, plans, flush):
    import torch.nn.attention.flex_attention as flex
    print("| problem | us | TFLOP/s | flex_attention, us | ratio | our causal, us | of its rate | configuration |\n"
          "|---|---:|---:|---:|---:|---:|---:|---|")
    options.masks = []
    for name in problems():
        entries = [entry for entry in plans if entry["problem"] == name and options.only in name]
        if not entries:
            continue
        try:
            measured(compare, torch, flex, options, name, entries, flush)
        except (AssertionError, RuntimeError) as error:
            print(f"| {name} | failed: {error} |", flush=True)
        torch.cuda.empty_cache()
    print(*options.masks, sep="\n")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="problems whose name contains the word")
    parser.add_argument("--pin", action="append", help="of `prepare`: params of a configuration; may be repeated")
    parser.add_argument("--backward", action="store_true", help="of `prepare`: the backward pass")
    parser.add_argument("--kv-heads", type=int, default=HEADS, help=f"of `prepare`: heads of keys, which {HEADS} heads of queries share")
    options = parser.parse_args()
    run(options, prepare, measure)


if __name__ == "__main__":
    main()
