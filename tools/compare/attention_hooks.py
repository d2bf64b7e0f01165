#!/usr/bin/env python3
"""attention with masks and scores as hooks, beside PyTorch's compiled flex_attention and our own causal attention.

    tools/compare/attention_hooks.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200] [--templates DIR] [--pin "BN=64"]...
    tools/compare/attention_hooks.py measure FOLDER [--rounds 20] [--only WORD]

As attention.py: `prepare` needs no GPU; `measure` needs one, PyTorch and the package tma_jit, times all sides in turn, and
compares results with flex_attention's. Rates are of the pairs of queries and keys that the mask leaves; the last column is the
share of the rate that causal attention of the same length has, by its own pairs. The mask of a problem that is "packed" is bits,
which attention_mask makes beforehand, as flex_attention's block mask is made; the time of both follows the table.
"""
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


def request(length, words, pin=""):
    return ["attention", f"HEADS={HEADS}", f"KV_HEADS={HEADS}", f"M={length}", f"N={length}", f"HD={SIZE}", *words, *pin.split()]


def prepare(options):
    entries = []
    for name, (length, words) in problems().items():
        if options.only not in name:
            continue
        common = {"problem": name, "causal": attention.built(options, request(length, ["CAUSAL=1"]))}
        if name.endswith("packed"):
            common["mask"] = attention.built(options, ["attention_mask", "HEADS=1", f"M={length}", f"N={length}", *words])
            words = PACKED
        for pin in options.pin or [""]:
            try:
                entries.append({"pin": pin, **common, **attention.built(options, request(length, words, pin))})
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


def measured(compare, torch, flex, options, name, entries, flush):
    length = problems()[name][0]
    torch.manual_seed(length)  # the same documents whatever reads them
    q, k, v = (torch.randn(1, HEADS, length, SIZE, device="cuda").bfloat16() for _ in range(3))
    o = torch.empty_like(q)
    starts = torch.cat((torch.zeros(1, dtype=torch.int64), torch.randperm(length - 1)[:length // 2048] + 1)).sort().values.cuda()
    document = (torch.searchsorted(starts, torch.arange(length, device="cuda"), right=True) - 1).int()
    operands = {"document": document, "first": starts[document.long()].int(),
                "slope": torch.exp2(-8.0 * torch.arange(1, HEADS + 1, device="cuda") / HEADS)}
    bits = torch.empty(1, length, length // 32, dtype=torch.int32, device="cuda")
    blocks = torch.empty(1, length // 128, length // 64, dtype=torch.uint8, device="cuda")
    tensors = {"Q": q[0], "K": k[0], "V": v[0], "O": o[0], "BITS": bits, "BLOCKS": blocks, "bits": bits, "blocks": blocks, **operands}
    scalars = {"scale": SIZE ** -0.5, "window": WINDOW, "prefix": 2048, "cap": CAP}

    def kernel(entry):
        return compare.Kernel(entry["plan"], os.path.join(options.folder, entry["cubin"]), tensors, scalars)
    ours, causal = [kernel(entry) for entry in entries], kernel(entries[0]["causal"])
    mask, score = modifications(torch, name, operands)

    def blocks_of_peer():
        return flex.create_block_mask(mask, None, None, length, length, device="cuda", _compile=True)
    block_mask = blocks_of_peer()
    if "mask" in entries[0]:
        made, peers = compare.alternate([kernel(entries[0]["mask"]), blocks_of_peer], options.rounds, flush)
        options.masks.append(f"{name}: attention_mask {made * 1e3:.1f} us, create_block_mask {peers * 1e3:.1f} us")
    compiled = torch.compile(flex.flex_attention, dynamic=False)

    def peer():
        return compiled(q, k, v, score_mod=score, block_mask=block_mask)
    expected = peer().float()
    for entry, side in zip(entries, ours):
        compare.poisoned(o)
        side()
        torch.cuda.synchronize()
        error = compare.difference(o, expected)
        assert error < 1e-2, f"{name} {side.config} differs from flex_attention by {error}"
    del expected
    *times, theirs, whole = compare.alternate([*ours, peer, causal], options.rounds, flush)
    pairs = pairs_of(torch, mask, length)
    rate, full = 4e-9 * HEADS * SIZE * pairs, 4e-9 * HEADS * SIZE * length * (length + 1) / 2
    for entry, side, time in zip(entries, ours, times):
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
    options = parser.parse_args()
    run(options, prepare, measure)


if __name__ == "__main__":
    main()
