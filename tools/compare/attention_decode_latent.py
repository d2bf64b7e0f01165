#!/usr/bin/env python3
"""attention_decode_latent beside the ceilings of a device: its products at a given rate, its bytes at the rate of a copy.

    tools/compare/attention_decode_latent.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200] [--only WORD] [--pin WORDS]... [--cache e4m3]
    tools/compare/attention_decode_latent.py measure FOLDER [--rounds 20] [--rate 790]

`prepare` needs no GPU: it plans and builds every problem for a named device, as planned or once with each --pin. `measure` runs
them where there is one, with PyTorch and the package tma_jit, by the method of compare.py. One or two tokens a sequence,
bf16, the cache in shuffled pages of 64, lengths on the device: all equal, or drawn from an eighth of the longest to all of it. PyTorch
has no kernel of the absorbed form, so that the time is compared with the greater of two: that of the products at `--rate` TFLOP/s,
which the device sustains, and that of a copy by the driver that reads and writes as many bytes as the cache has. Results are
compared with PyTorch's products and softmax in f32. With `--cache e4m3` the cache is of 8 bits with a scale.
"""
import math
import os

import prepared
from command_line import parser_of, run, target
from statistics import geometric_mean

KEY, VALUE, PAGE = 576, 512, 64
SCALE = 1 / math.sqrt(192)
UNIT = 1 / 32  # of a cache of e4m3
SHAPES = [(batch, thousands, tokens, heads, layout) for batch in (1, 16, 64, 128) for thousands in (4, 16)
          for tokens, heads, layout in ((1, 128, "equal"), (2, 128, "equal"), (1, 128, "ragged"), (1, 16, "equal"))]


def problems(options):
    for batch, thousands, tokens, heads, layout in SHAPES:
        for pin in options.pin or [""]:
            yield {"batch": batch, "keys": thousands * 1024, "tokens": tokens, "heads": heads, "layout": layout, "pin": pin}


def name_of(problem):
    return f"B={problem['batch']} S={problem['keys']} QS={problem['tokens']} H={problem['heads']} {problem['layout']}"


def words_of(problem, options):
    batch, keys = problem["batch"], problem["keys"]
    dims = [f"B={batch}", f"TOKENS={problem['tokens']}", f"HEADS={problem['heads']}", f"P={batch * keys // PAGE}", f"SIZE={PAGE}",
            f"MAX_PAGES={keys // PAGE}", "RAGGED=1"]
    if options.cache == "e4m3":
        dims += ["E=e4m3", "SCALED=1"]
    return ["attention_decode_latent", *dims, *problem["pin"].split(), *target(options)]


def prepare(options):
    return prepared.prepare_each(problems(options), name_of, words_of, options)


def expected_of(torch, q, cache, unit, lengths):
    """O in f32 precision of the weights, a sequence at a time; the last token sees all keys."""
    results = []
    tokens = q.shape[1]
    for b, length in enumerate(lengths):
        rows = cache[b, :length].float() * unit
        scores = q[b].float() @ rows.T * SCALE
        last = torch.arange(length - tokens, length, device="cuda").view(tokens, 1, 1)
        scores.masked_fill_(torch.arange(length, device="cuda") > last, -math.inf)
        results.append(scores.softmax(-1) @ rows[:, :VALUE])
    return torch.stack(results)


def timed(compare, torch, options, entry, index, flush):
    """Milliseconds of ours and of a copy of the cache, and what ours computes and reads."""
    problem = entry["problem"]
    batch, keys, tokens, heads = (problem[name] for name in ("batch", "keys", "tokens", "heads"))
    q = torch.randn(batch, tokens, heads, KEY, device="cuda").bfloat16()
    cache, unit = torch.randn(batch, keys, KEY, device="cuda", dtype=torch.bfloat16), 1
    if next(argument for argument in entry["plan"]["arguments"] if argument["name"] == "C")["dtype"] == "e4m3":
        cache, unit = (cache / UNIT).to(torch.float8_e4m3fn), UNIT
    numbers = torch.randperm(batch * keys // PAGE, device="cuda")
    pages = torch.empty(numbers.numel(), PAGE, KEY, device="cuda", dtype=cache.dtype)
    pages.view(torch.uint8)[numbers] = cache.view(torch.uint8).view(numbers.numel(), PAGE, -1)
    lengths = torch.full((batch,), keys, device="cuda", dtype=torch.int32)
    if problem["layout"] == "ragged":
        lengths = torch.randint(keys // 8, keys + 1, (batch,), device="cuda", dtype=torch.int32)
    tensors = {"Q": q, "C": pages, "SC": torch.full((1,), unit, device="cuda"), "PAGES": numbers.int().view(batch, -1), "LENGTHS": lengths,
               "O": torch.empty(batch, tokens, heads, VALUE, device="cuda", dtype=torch.bfloat16)}
    ours = compare.Kernel(entry["plan"], os.path.join(options.folder, f"{index}.cubin"), tensors, {"scale": SCALE})
    wanted = expected_of(torch, q, cache, unit, lengths.tolist())
    for _ in range(2):  # the second launch proves that the first left its counters at 0
        compare.poisoned(tensors["O"])
        ours()
        error = compare.difference(tensors["O"], wanted)
        assert error <= 1e-2, f"differs from PyTorch by {error}"
    rows = int(lengths.sum())
    size = rows * KEY * cache.element_size()
    half = torch.empty(size // 2, dtype=torch.uint8, device="cuda")
    other = torch.empty_like(half)
    mine, copy = compare.alternate([ours, lambda: other.copy_(half)], options.rounds, flush)
    return mine, copy, 2 * rows * tokens * heads * (KEY + VALUE), size, ours.config


def measure(compare, torch, options, entries, flush):
    shares = []
    print("| problem | us | TFLOP/s | GB/s | ceiling, us | of the ceiling | configuration |\n|---|---:|---:|---:|---|---:|---|")
    for index, entry in enumerate(entries):
        try:
            mine, copy, flops, size, config = timed(compare, torch, options, entry, index, flush)
        except (AssertionError, RuntimeError) as error:
            print(f"| {name_of(entry['problem'])} | failed: {error} |", flush=True)
            continue
        products = flops / options.rate / 1e9
        ceiling, bound = max((products, "products"), (copy, "copy"))
        shares.append(ceiling / mine)
        print(f"| {name_of(entry['problem'])} | {mine * 1e3:.1f} | {flops / mine / 1e9:,.0f} | {size / mine / 1e6:,.0f} | "
              f"{ceiling * 1e3:.1f} {bound} | {ceiling / mine:.3f} | {config} |", flush=True)
        torch.cuda.empty_cache()
    print(f"\ngeometric mean {geometric_mean(shares):.3f}, least {min(shares):.3f}")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="of `prepare`: problems whose name contains the word")
    parser.add_argument("--pin", action="append", help="of `prepare`: params of a configuration; may be repeated")
    parser.add_argument("--cache", choices=["bf16", "e4m3"], default="bf16", help="of `prepare`: the cache's type")
    parser.add_argument("--rate", type=float, default=790, help="of `measure`: TFLOP/s that the device sustains")
    options = parser.parse_args()
    run(options, prepare, measure)


if __name__ == "__main__":
    main()
