#!/usr/bin/env python3
"""attention_decode beside a copy of as many bytes and beside PyTorch's attention.

    tools/compare/attention_decode.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200] [--only WORD] [--pin WORDS]... [--cache e4m3]
    tools/compare/attention_decode.py measure FOLDER [--rounds 20] [--flex]

`prepare` needs no GPU: it plans and builds every problem for a named device, once as planned, or once with each --pin, such as
"WARPS=8 STAGES=2", whose params are valid for it. `measure` runs them where there is one, with PyTorch and the driver's Python
bindings, by the method of compare.py. One token a sequence, bf16, heads of 128 elements. Keys and values are contiguous, in
shuffled pages of 16 or 64, and in pages of 16 with lengths drawn from an eighth of the longest to all of it. Bytes are those of
the keys and values read. The copy is the driver's from device to device, over half of the bytes of the longest lengths, so that it
reads and writes all of them. The peer is the fastest of scaled_dot_product_attention's backends on the contiguous keys, with
enable_gqa, with heads expanded, and with the heads of queries that share keys given as tokens; with `--flex` a compiled
flex_attention too. With `--cache e4m3` keys and values are of 8 bits with a scale for each head, and the peer has the same numbers
as bf16. Results are compared with PyTorch's.
"""
import math
import os
import subprocess

from attention import built
from command_line import parser_of, run
from ratios import print_shares

SIZE = 128  # elements of a head
SCALE = 0.0625  # of what is stored in 8 bits
HEADS = [(32, 4), (64, 8)]
BATCHES = [(1, 1), (1, 4), (1, 8), (1, 32), (1, 128), (4, 8), (8, 32), (16, 4), (16, 16), (32, 8), (64, 4), (64, 32), (128, 1),
           (128, 8)]  # sequences, keys of each in thousands (1024)
LAYOUTS = {"contiguous": 0, "pages of 16": 16, "pages of 64": 64, "ragged, pages of 16": 16}  # keys of a page


def problems():
    for heads, kv_heads in HEADS:
        for batch, thousands in BATCHES:
            for layout in LAYOUTS:
                yield {"batch": batch, "keys": thousands * 1024, "heads": heads, "kv_heads": kv_heads, "layout": layout}


def name_of(problem):
    return f"B={problem['batch']} S={problem['keys']} {problem['heads']}:{problem['kv_heads']} {problem['layout']}"


def words_of(problem, options):
    batch, keys, page = problem["batch"], problem["keys"], LAYOUTS[problem["layout"]]
    dims = ["TOKENS=1", f"B={batch}", f"HEADS={problem['heads']}", f"KV_HEADS={problem['kv_heads']}", f"HD={SIZE}"]
    if page == 0:
        dims.append(f"N={keys}")
    else:
        dims += [f"P={batch * keys // page}", f"SIZE={page}", f"MAX_PAGES={keys // page}", "RAGGED=1"]
    if options.cache == "e4m3":
        dims += ["C=e4m3", "SCALED=1"]
    return ["attention_decode", *dims, *problem["pin"].split()]


def prepare(options):
    entries = []
    for problem in problems():
        if options.only not in name_of(problem):
            continue
        for pin in options.pin or [""]:
            pinned = {**problem, "pin": pin}
            try:
                entries.append({"problem": pinned, **built(options, words_of(pinned, options))})
            except subprocess.CalledProcessError:
                print(f"{name_of(problem)}: no plan for {pin}")
    return entries


def peers_of(torch, q, k, v, flex):
    """PyTorch's ways that work here, each a function that returns O as [B, HEADS, 1, SIZE]."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    attention = torch.nn.functional.scaled_dot_product_attention
    batch, heads, kv_heads = q.shape[0], q.shape[2], k.shape[2]
    k, v, tokens = k.transpose(1, 2), v.transpose(1, 2), q.transpose(1, 2)
    packed = q.view(batch, kv_heads, heads // kv_heads, SIZE)
    ways = [lambda: attention(packed, k, v).view(batch, heads, 1, SIZE), lambda: attention(tokens, k, v, enable_gqa=True)]
    if k.numel() * heads // kv_heads <= 1 << 31:
        wide_k, wide_v = (x.repeat_interleave(heads // kv_heads, 1) for x in (k, v))
        ways.append(lambda: attention(tokens, wide_k, wide_v))

    def by(backend, way):
        def call():
            with sdpa_kernel([backend]):
                return way()
        return call
    found = []
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION):
        found += [(backend.name.split("_")[0].lower(), by(backend, way)) for way in ways]
    if flex:
        from torch.nn.attention.flex_attention import flex_attention
        compiled = torch.compile(flex_attention, dynamic=False)
        found.append(("flex", lambda: compiled(tokens, k, v, enable_gqa=True)))
    works = []
    for name, call in found:
        try:
            call()
            torch.cuda.synchronize()
            works.append((name, call))
        except (RuntimeError, torch.cuda.OutOfMemoryError):
            pass
    return works


def expected_of(torch, q, k, v, lengths):
    """O in f32 precision of the weights, a sequence at a time."""
    batch, heads, kv_heads = q.shape[0], q.shape[2], k.shape[2]
    results = []
    for b in range(batch):
        packed = q[b].view(kv_heads, heads // kv_heads, SIZE).float()
        scores = packed @ k[b, :lengths[b]].permute(1, 2, 0).float() / math.sqrt(SIZE)
        results.append((scores.softmax(-1) @ v[b, :lengths[b]].transpose(0, 1).float()).view(1, heads, SIZE))
    return torch.stack(results)


def tensors_of(torch, problem, q, k, v):
    """The arguments of our kernel, and the lengths."""
    batch, keys, page = problem["batch"], problem["keys"], LAYOUTS[problem["layout"]]
    tensors = {"Q": q, "O": torch.full_like(q, float("nan"))}
    if k.dtype == torch.float8_e4m3fn:
        tensors |= {name: torch.full((problem["kv_heads"],), SCALE, device="cuda") for name in ("SK", "SV")}
    if page == 0:
        return tensors | {"K": k, "V": v}, [keys] * batch
    numbers = torch.randperm(batch * keys // page, device="cuda")
    for name, rows in (("K", k), ("V", v)):
        tensors[name] = torch.empty(numbers.numel(), page, problem["kv_heads"], SIZE, device="cuda", dtype=k.dtype)
        tensors[name][numbers] = rows.view(-1, page, problem["kv_heads"], SIZE)
    lengths = torch.full((batch,), keys, device="cuda", dtype=torch.int32)
    if problem["layout"].startswith("ragged"):
        lengths = torch.randint(keys // 8, keys + 1, (batch,), device="cuda", dtype=torch.int32)
    tensors |= {"PAGES": numbers.int().view(batch, -1), "LENGTHS": lengths}
    return tensors, lengths.tolist()


def timed(compare, torch, options, entries, flush):
    """Milliseconds of ours for each entry, all of which have the same contiguous keys, of the copy and of the best peer."""
    problem = entries[0]["problem"]
    batch, keys, heads, kv_heads = (problem[name] for name in ("batch", "keys", "heads", "kv_heads"))
    q = torch.randn(batch, 1, heads, SIZE, device="cuda").bfloat16()
    k, v = (torch.randn(batch, keys, kv_heads, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    stored = k, v
    if next(argument for argument in entries[0]["plan"]["arguments"] if argument["name"] == "K")["dtype"] == "e4m3":
        stored = [(x / SCALE).to(torch.float8_e4m3fn) for x in (k, v)]
        k, v = (x.bfloat16() * SCALE for x in stored)
    ours, moved = [], []
    for entry in entries:
        tensors, lengths = tensors_of(torch, entry["problem"], q, *stored)
        ours.append(compare.Kernel(entry["plan"], os.path.join(options.folder, entry["cubin"]), tensors,
                                   {"scale": 1 / math.sqrt(SIZE)}))
        moved.append(2 * sum(lengths) * kv_heads * SIZE * stored[0].element_size())
        wanted = expected_of(torch, q, k, v, lengths)
        for _ in range(2):  # the second launch proves that the first left its counters at 0
            compare.poisoned(tensors["O"])
            ours[-1]()
            error = compare.difference(tensors["O"], wanted)
            assert error <= 1e-2, f"{name_of(entry['problem'])} differs from PyTorch by {error}"
    half = batch * keys * kv_heads * SIZE * stored[0].element_size()
    source, target = (torch.empty(half, dtype=torch.uint8, device="cuda") for _ in range(2))
    peers = peers_of(torch, q, k, v, options.flex)
    times = compare.alternate([*ours, lambda: target.copy_(source), *(call for _, call in peers)], options.rounds, flush)
    best = min(zip(times[len(ours) + 1:], (name for name, _ in peers)), default=(float("nan"), "none"))
    return times[:len(ours)], moved, [kernel.config for kernel in ours], times[len(ours)], 2 * half, best


def measure(compare, torch, options, entries, flush):
    groups, ratios = {}, {}
    for entry in entries:
        problem = entry["problem"]
        groups.setdefault(tuple(problem[k] for k in ("batch", "keys", "heads", "kv_heads")), []).append(entry)
    print("| problem | us | GB/s | of a copy | PyTorch, us | ratio | configuration |\n|---|---:|---:|---:|---:|---:|---|")
    for group in groups.values():
        try:
            ours, moved, configs, copy, copied, (peer, name) = timed(compare, torch, options, group, flush)
        except (AssertionError, RuntimeError) as error:
            print(f"| {name_of(group[0]['problem'])} | failed: {error} |", flush=True)
            continue
        for entry, time, size, config in zip(group, ours, moved, configs):
            problem = entry["problem"]
            share = (size / time) / (copied / copy)
            whole = not problem["layout"].startswith("ragged")  # the peer reads the longest lengths of all
            ratios.setdefault(f"{problem['layout']} {problem['pin']}".rstrip(), []).append((share, peer / time if whole else float("nan")))
            options.pictured.add(problem["layout"], entry["plan"], time, {"PyTorch": peer} if whole else {})
            print(f"| {name_of(problem)} | {time * 1e3:.1f} | {size / time / 1e6:,.0f} | {share:.3f} | "
                  + (f"{peer * 1e3:.1f} {name} | {peer / time:.2f}" if whole else "- | -") + f" | {config} |", flush=True)
        torch.cuda.empty_cache()
    print_shares("layout", ratios)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="of `prepare`: problems whose name contains the word")
    parser.add_argument("--pin", action="append", help="of `prepare`: params of a configuration; may be repeated")
    parser.add_argument("--cache", default="bf16", choices=["bf16", "e4m3"], help="of `prepare`: the type of keys and values")
    parser.add_argument("--flex", action="store_true", help="of `measure`: a compiled flex_attention too")
    options = parser.parse_args()
    run(options, prepare, measure)


if __name__ == "__main__":
    main()
