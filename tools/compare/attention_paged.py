#!/usr/bin/env python3
"""attention_paged, of new tokens of sequences over their cached keys in pages, beside PyTorch's attention over contiguous keys.

    tools/compare/attention_paged.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200] [--only WORD] [--pin "PACK=8 BM=64"]...
    tools/compare/attention_paged.py measure FOLDER [--rounds 20]

As attention.py: `prepare` needs no GPU, `measure` needs one. 64 heads of 128 elements that share 8 of keys, bf16, in shuffled pages of
16 or 64 keys; every sequence has as many cached keys and as many new tokens, the last of its keys. The peer is the fastest of
scaled_dot_product_attention's backends with a lower-right causal bias, on contiguous keys that it need not look up. Results are
compared with the peer's, and one sequence alone, whose last token alone, must have the same bits as in the batch.
"""
import math
import os

import attention
import prepared
from command_line import parser_of, run, target
from ratios import mean_and_least

SIZE, HEADS, KV_HEADS = 128, 64, 8
SHAPES = [(1, 8192, 8192), (1, 32768, 4096), (4, 8192, 2048), (16, 4096, 512), (32, 4096, 64), (32, 8192, 8), (64, 4096, 1), (128, 8192, 1)]


def problems():
    """Name to sequences, keys and new tokens of each, and keys of a page."""
    return {f"{batch} x {new} of {keys}, pages of {page}": (batch, keys, new, page) for batch, keys, new in SHAPES for page in (16, 64)}


def words_of(batch, keys, new, page, cached):
    return ["attention_paged", f"BATCH={batch}", f"HEADS={HEADS}", f"KV_HEADS={KV_HEADS}", f"M={batch * new}", f"LONGEST={new}",
            f"HD={SIZE}", f"P={cached // page}", f"SIZE={page}", f"MAX_PAGES={keys // page}"]


def prepare(options):
    entries = []
    for name, (batch, keys, new, page) in problems().items():
        if options.only not in name:
            continue
        alone = attention.built(options, words_of(1, keys, 1, page, batch * keys))
        for pin in options.pin or [""]:
            entries.append({"problem": name, "pin": pin, "alone": alone,
                            **attention.built(options, [*words_of(batch, keys, new, page, batch * keys), *pin.split()])})
            entries[-1]["plan"]["work"]["flops"] = 4 * batch * HEADS * SIZE * (new * keys - new * (new - 1) // 2)
    return entries


def peers_of(torch, q, k, v, new, keys):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.attention.bias import causal_lower_right
    bias = None if new == 1 else causal_lower_right(new, keys)
    calls = {}
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION):
        def call(backend=backend):
            with sdpa_kernel([backend]):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, enable_gqa=True)
        try:
            call()
            calls[backend.name.split("_")[0].lower()] = call
        except RuntimeError:
            pass
    return calls


def paged(torch, x, numbers, page):
    """[batch, heads, keys, elements] in the pages of these numbers."""
    pages = torch.empty(numbers.numel(), page, KV_HEADS, SIZE, device="cuda", dtype=x.dtype)
    pages[numbers] = x.transpose(1, 2).reshape(-1, page, KV_HEADS, SIZE)
    return pages


def timed(compare, torch, options, entries, flush):
    batch, keys, new, page = problems()[entries[0]["problem"]]
    q = torch.randn(batch, HEADS, new, SIZE, device="cuda").bfloat16()
    k, v = (torch.randn(batch, KV_HEADS, keys, SIZE, device="cuda").bfloat16() for _ in range(2))
    numbers = torch.randperm(batch * keys // page, device="cuda")
    tensors = {"Q": q.transpose(1, 2).reshape(-1, HEADS, SIZE).contiguous(), "K": paged(torch, k, numbers, page),
               "V": paged(torch, v, numbers, page), "PAGES": numbers.int().view(batch, -1),
               "LENGTHS": torch.full((batch,), keys, device="cuda", dtype=torch.int32),
               "CU": torch.arange(batch + 1, device="cuda", dtype=torch.int32) * new}
    o = torch.empty_like(tensors["Q"])
    scalars = {"scale": 1 / math.sqrt(SIZE)}
    ours = [compare.Kernel(entry["plan"], os.path.join(options.folder, entry["cubin"]), {**tensors, "O": o}, scalars) for entry in entries]
    last = {**tensors, "Q": tensors["Q"][-1:].contiguous(), "PAGES": tensors["PAGES"][-1:], "LENGTHS": tensors["LENGTHS"][-1:],
            "CU": torch.tensor([0, 1], device="cuda", dtype=torch.int32), "O": torch.empty_like(o[-1:])}
    alone = compare.Kernel(entries[0]["alone"]["plan"], os.path.join(options.folder, entries[0]["alone"]["cubin"]), last, scalars)
    peers = peers_of(torch, q, k, v, new, keys)
    expected = next(iter(peers.values()))().transpose(1, 2).reshape(-1, HEADS, SIZE)
    attention.compare_results(compare, torch, entries, ours, o, expected)
    alone()
    torch.cuda.synchronize()
    assert torch.equal(last["O"], o[-1:]), f"{entries[0]['problem']}: a token alone has other bits than in the batch"
    times = compare.alternate([*ours, *peers.values()], options.rounds, flush)
    return [(kernel.config, time) for kernel, time in zip(ours, times)], dict(zip(peers, times[len(ours):]))


def measure(compare, torch, options, plans, flush):
    print("| problem | us | TFLOP/s | GB/s of keys and values | PyTorch, us | ratio | configuration |\n|---|---:|---:|---:|---:|---:|---|")
    ratios = {}
    for name, (batch, keys, new, page) in problems().items():
        entries = [entry for entry in plans if entry["problem"] == name and options.only in name]
        if not entries:
            continue
        try:
            ours, peers = timed(compare, torch, options, entries, flush)
        except (AssertionError, RuntimeError) as error:
            print(f"| {name} | failed: {error} |", flush=True)
            continue
        backend, peer = min(peers.items(), key=lambda item: item[1])
        for entry, (config, time) in zip(entries, ours):
            ratios.setdefault(entry["pin"], []).append(peer / time)
            options.pictured.add(f"pages of {page} {entry['pin']}".rstrip(), entry["plan"], time, peers)
            print(f"| {name} | {time * 1e3:.1f} | {entry['plan']['work']['flops'] / time / 1e9:,.0f} | "
                  f"{4 * batch * keys * KV_HEADS * SIZE / time / 1e6:,.0f} | {backend} {peer * 1e3:.1f} | {peer / time:.2f} | {config} |", flush=True)
        torch.cuda.empty_cache()
    print("\n| pinned | number | geometric mean | least |\n|---|---:|---:|---:|")
    for pin, values in ratios.items():
        print(f"| {pin} | {len(values)} | {mean_and_least(values, ' | ')} |")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="problems whose name contains the word")
    parser.add_argument("--pin", action="append", help="of `prepare`: params of a configuration; may be repeated")
    options = parser.parse_args()
    run(options, prepare, measure)


if __name__ == "__main__":
    main()
