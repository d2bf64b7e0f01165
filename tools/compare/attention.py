#!/usr/bin/env python3
"""attention, as it is planned or with pinned params, beside PyTorch's scaled_dot_product_attention over many problems.

    tools/compare/attention.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200] [--only WORD] [--pin "BM=128 BN=128"]...
        [--backward] [--ragged | --e4m3] [--few | --shared]
    tools/compare/attention.py measure FOLDER [--rounds 20] [--only WORD]

`prepare` needs no GPU: it plans and builds every problem for a named device, once as planned, or once with each --pin whose
params are valid for the problem. `measure` runs them where there is one, with PyTorch and the package tma_jit, by the
method of compare.py; the peer is the better of PyTorch's cuDNN and flash backends. Results are compared with the peer's, and
must be the same twice. Sequences of a batch have 16384 tokens together, or one has 32768; heads have 2048 elements together,
except those that share keys, which are 64 of 128 with 8 of keys, and 16 of 192 whose values have 128. With --backward, attention_delta and attention_backward are
prepared, whose times `measure` adds, beside autograd's backward pass alone; pins are attention_backward's, and with ATOMIC=1 only
DK and DV must be the same twice. With --ragged,
attention_ragged is prepared for sequences of random lengths, the same at every call, beside nested tensors and sequences that
are padded to the longest; rates count the work of the lengths. With both, attention_ragged_backward is, beside the backward
pass of both. With --e4m3, queries, keys and values are e4m3, and the peers have the same numbers as bf16 and, where cuDNN's
frontend is installed, as e4m3; results may differ from those of bf16 by a twelfth, as weights have 3 bits of fraction. With --few
one sequence has few heads, for which large tiles would leave SMs idle, with --shared few heads of keys, which others share.
"""
import functools
import hashlib
import importlib.util
import os
import random
import subprocess

import prepared
from command_line import parser_of, run, target
from ratios import mean_and_least

LENGTHS = [1024, 2048, 4096, 8192, 16384, 32768]
SEQUENCES = {  # of one sequence: heads, heads of keys, tokens
    "few": [(8, 8, 512), (8, 8, 1024), (16, 16, 1024), (32, 32, 512), (8, 8, 2048), (28, 28, 1500), (40, 40, 1024), (16, 16, 4096)],
    "shared": [(32, 8, 512), (32, 8, 1024), (32, 8, 2048), (32, 8, 4096), (32, 8, 8192), (28, 4, 1024), (28, 4, 4096), (64, 8, 1024),
               (64, 8, 4096), (16, 2, 4096), (8, 1, 1024), (8, 1, 4096), (8, 1, 8192), (4, 1, 2048)]}


def problems():
    """Name to batch, heads, heads of keys, length, elements of a key and of a value, and whether causal."""
    found = {}
    for size, value, heads, kv_heads in ((64, 64, 32, 32), (128, 128, 16, 16), (256, 256, 8, 8), (192, 128, 16, 16), (128, 128, 64, 8)):
        for causal in (False, True):
            for length in LENGTHS:
                batch = max(1, 16384 // length) if heads == kv_heads else max(1, 8192 // length)
                elements = f"D{size}" if value == size else f"D{size}/{value}"
                name = f"{elements} {heads}:{kv_heads} {'causal' if causal else 'full'} {batch} x {length}"
                found[name] = (batch, heads, kv_heads, length, size, value, causal)
            for kind, sequences in SEQUENCES.items():
                for sharing, shared, length in sequences:
                    name = f"{kind} {elements} {'causal' if causal else 'full'} {sharing}:{shared} x {length}"
                    found[name] = (1, sharing, shared, length, size, value, causal)
    return found


def ragged_problems():
    """Name to lengths, heads, heads of keys, elements of a head, and whether causal."""
    numbers = random.Random(0)
    drawn = {"equal": [1024] * 16, "even": [numbers.randint(1, 2048) for _ in range(16)],
             "skewed": [round(32 * 256 ** numbers.random()) for _ in range(16)],
             "one long": [numbers.randint(1, 512) for _ in range(31)] + [8192],
             "short": [numbers.randint(1, 256) for _ in range(128)]}
    return {f"ragged D{size} {heads}:{kv_heads} {'causal' if causal else 'full'} {name}": (lengths, heads, kv_heads, size, causal)
            for size, heads, kv_heads in ((64, 32, 32), (128, 16, 16), (128, 64, 8)) for causal in (False, True)
            for name, lengths in drawn.items()}


def built(options, words):
    """The plan and the cubin's file name of a request."""
    path = os.path.join(options.folder, "building.cubin")
    plan = prepared.prepare(options.tma_jit, [*words, *target(options)], path)
    with open(path, "rb") as file:
        cubin = hashlib.sha256(file.read()).hexdigest()[:16] + ".cubin"
    os.replace(path, os.path.join(options.folder, cubin))
    return {"plan": plan, "cubin": cubin}


def heads_first(plan):
    """Changes attention_delta's plan to read O and DO of sequences that lie one after the other: [M, HEADS, HD] as [HEADS, M, HD]."""
    for argument in plan["arguments"]:
        if argument["name"] in ("O", "DO"):
            heads, _, size = argument["shape"]
            argument["strides"] = [size, heads * size, 1]


def prepare_ragged(options):
    entries = []
    for name, (lengths, heads, kv_heads, size, causal) in ragged_problems().items():
        if options.only not in name:
            continue
        queries = [f"HEADS={heads}", f"M={sum(lengths)}", f"HD={size}"]
        words = [*queries, f"BATCH={len(lengths)}", f"KV_HEADS={kv_heads}", f"N={sum(lengths)}", f"CAUSAL={int(causal)}"]
        forward, kernel, before = ["attention_ragged", *words, f"LONGEST={max(lengths)}"], None, {}
        if options.backward:
            before = {"forward": built(options, [*forward, "LSE=1"]), "delta": built(options, ["attention_delta", *queries])}
            heads_first(before["delta"]["plan"])
            kernel = ["attention_ragged_backward", *words]
        for pin in options.pin or [""]:
            try:
                entries.append({"problem": name, "pin": pin, **built(options, [*(kernel or forward), *pin.split()]), **before})
            except subprocess.CalledProcessError:
                print(f"{name}: no plan for {pin}")
                continue
            products = 10 if options.backward else 4
            flops = sum(products * heads * length * length * size for length in lengths) / (1 + causal)
            entries[-1]["plan"]["work"]["flops"] = flops
    return entries


def kind_of(name):
    """Which of SEQUENCES a problem is of; empty if it is a batch."""
    word = name.split()[0]
    return word if word in SEQUENCES else ""


def prepare(options):
    entries = prepare_ragged(options) if options.ragged else []
    kind = "few" if options.few else "shared" if options.shared else ""
    for name, (batch, heads, kv_heads, length, size, value, causal) in problems().items():
        if options.ragged or options.only not in name or kind != kind_of(name):
            continue
        if options.e4m3 and value != size:
            continue
        queries = [f"HEADS={batch * heads}", f"M={length}", f"HD={size}", *(["T=e4m3"] if options.e4m3 else [])]
        words = [*queries, f"KV_HEADS={batch * kv_heads}", f"N={length}", f"CAUSAL={int(causal)}"]
        if value != size:
            words.append(f"VD={value}")
        before = {}
        if options.backward:
            before = {"forward": built(options, ["attention", *words, "LSE=1"]), "delta": built(options, ["attention_delta", *queries[:2], f"HD={value}"])}
        for pin in options.pin or [""]:
            try:
                kernel = built(options, ["attention_backward" if options.backward else "attention", *words, *pin.split()])
            except subprocess.CalledProcessError:
                print(f"{name}: no plan for {pin}")
                continue
            entries.append({"problem": name, "pin": pin, **kernel, **before})
    return entries


def compare_results(compare, torch, entries, ours, o, expected, tolerance=1e-2):
    """Fails where a kernel leaves another O than is expected, or than it left before."""
    for entry, kernel in zip(entries, ours):
        compare.poisoned(o)
        kernel()
        first = o.clone()
        kernel()
        torch.cuda.synchronize()
        error = compare.difference(o, expected)
        assert error < tolerance, f"{entry['problem']} {kernel.config} differs from PyTorch by {error}"
        assert torch.equal(first, o), f"{entry['problem']} {kernel.config} is not the same twice"


def timed(compare, torch, options, entries, flush):
    """Milliseconds of each of ours and of each backend."""
    batch, heads, kv_heads, length, size, value, causal = problems()[entries[0]["problem"]]
    q = torch.randn(batch, heads, length, size, device="cuda").bfloat16()
    k, v = (torch.randn(batch, kv_heads, length, elements, device="cuda").bfloat16() for elements in (size, value))
    o = torch.empty(batch, heads, length, value, device="cuda", dtype=torch.bfloat16)
    tensors = {name: tensor.view(-1, *tensor.shape[2:]) for name, tensor in (("Q", q), ("K", k), ("V", v), ("O", o))}
    small = entries[0]["plan"]["arguments"][0]["dtype"] == "e4m3"
    if small:
        tensors |= {name: tensors[name].to(torch.float8_e4m3fn) for name in "QKV"}
        for name, wide in zip("QKV", (q, k, v)):
            wide.copy_(tensors[name].view_as(wide))
    ours = [compare.Kernel(entry["plan"], os.path.join(options.folder, entry["cubin"]), tensors, {"scale": size ** -0.5})
            for entry in entries]

    def backend(which, values):
        def call():
            with torch.nn.attention.sdpa_kernel(which):
                return torch.nn.functional.scaled_dot_product_attention(q, k, values, is_causal=causal, enable_gqa=heads != kv_heads)
        return call
    names = {"cuDNN": torch.nn.attention.SDPBackend.CUDNN_ATTENTION, "flash": torch.nn.attention.SDPBackend.FLASH_ATTENTION}
    peers, expected = {}, None
    padded = [("", v)] if value == size else [("", v), (" padded", torch.nn.functional.pad(v, (0, size - value)))]
    for name, which, (kind, values) in ((*pair, one) for pair in names.items() for one in padded):
        try:
            expected = backend(which, values)()[..., :value].float()
            peers[name + kind] = backend(which, values)
        except RuntimeError as error:
            print(f"{entries[0]['problem']}: {name}{kind} refuses: {str(error).splitlines()[0]}")
    if small and importlib.util.find_spec("cudnn"):
        import cudnn_e4m3
        peers["cuDNN e4m3"] = cudnn_e4m3.attention(*(tensors[name].view_as(wide) for name, wide in zip("QKV", (q, k, v))), causal)
        error = compare.difference(peers["cuDNN e4m3"](), expected)
        assert error < 1e-1, f"cuDNN's e4m3 differs from its bf16 by {error}"
    compare_results(compare, torch, entries, ours, o, expected, 8e-2 if small else 1e-2)
    del expected
    times = compare.alternate([*ours, *peers.values()], options.rounds, flush)
    return [(kernel.config, time) for kernel, time in zip(ours, times)], dict(zip(peers, times[len(ours):]))


def backward_kernels(compare, options, entries, tensors, scalars):
    """Runs the forward pass, and returns attention_backward of each entry, alone and with attention_delta before it."""
    def kernel(entry):
        return compare.Kernel(entry["plan"], os.path.join(options.folder, entry["cubin"]), tensors, scalars)
    kernel(entries[0]["forward"])()
    first, kernels = kernel(entries[0]["delta"]), [kernel(entry) for entry in entries]

    def pair(second):
        def call():
            first()
            second()
        return call
    return kernels, [pair(second) for second in kernels]


def compare_gradients(compare, torch, entries, pairs, made, expected):
    """Fails where a kernel leaves other gradients than are expected, or than it left before, in any order of DQ's sums."""
    for entry, call in zip(entries, pairs):
        for tensor in made:
            compare.poisoned(tensor)
        call()
        once = [tensor.clone() for tensor in made]
        call()
        torch.cuda.synchronize()
        for name, tensor, wanted, before in zip(("DQ", "DK", "DV"), made, expected, once):
            error = compare.difference(tensor, wanted)
            assert error < 2e-2, f"{name} of {entry['problem']} {entry['pin']} differs from PyTorch by {error}"
            same = torch.equal(before, tensor) or (name == "DQ" and "ATOMIC=1" in entry["pin"])
            assert same, f"{name} of {entry['problem']} {entry['pin']} is not the same twice"


def ragged_peers(torch, problem, parts):
    """Name to a call of each peer, and its tensors, of each sequence's q, k and v, and what else is padded or nested like them."""
    lengths, heads, kv_heads, _, causal = problem
    attention, longest = torch.nn.functional.scaled_dot_product_attention, max(lengths)
    padded = [torch.nn.utils.rnn.pad_sequence(part, batch_first=True).transpose(1, 2).contiguous() for part in parts]
    sees = None
    if not causal:  # under a causal mask no query sees the keys that are padding
        sees = (torch.arange(longest, device="cuda") < torch.tensor(lengths, device="cuda")[:, None])[:, None, None]
    offsets = torch.tensor([0, *lengths], device="cuda").cumsum(0)
    nested = [torch.nested.nested_tensor_from_jagged(torch.cat(part).repeat_interleave(heads // part[0].shape[1], 1), offsets,
                                                     min_seqlen=min(lengths),
                                                     max_seqlen=longest).transpose(1, 2) for part in parts]
    return {"padded": (lambda: attention(*padded[:3], attn_mask=sees, is_causal=causal, enable_gqa=heads != kv_heads), padded),
            "nested": (lambda: attention(*nested[:3], is_causal=causal), nested)}


def timed_ragged(compare, torch, options, entries, flush):
    """The same of sequences of different lengths."""
    problem = ragged_problems()[entries[0]["problem"]]
    lengths, heads, kv_heads, size, causal = problem
    attention, total = torch.nn.functional.scaled_dot_product_attention, sum(lengths)
    q = torch.randn(total, heads, size, device="cuda").bfloat16()
    k, v = (torch.randn(total, kv_heads, size, device="cuda").bfloat16() for _ in range(2))
    o = torch.empty_like(q)
    starts = torch.tensor([0, *lengths], device="cuda").cumsum(0).int()
    tensors = {"Q": q, "K": k, "V": v, "CU": starts, "CUK": starts, "O": o}
    ours = [compare.Kernel(entry["plan"], os.path.join(options.folder, entry["cubin"]), tensors, {"scale": size ** -0.5})
            for entry in entries]
    shared = heads // kv_heads
    parts = [tensor.split(lengths) for tensor in (q, k, v)]
    expected = torch.cat([attention(*(part.transpose(0, 1)[None] for part in one), is_causal=causal, enable_gqa=shared > 1)[0]
                          .transpose(0, 1) for one in zip(*parts)]).float()
    peers = {}
    for name, (call, _) in ragged_peers(torch, problem, parts).items():
        try:
            call()
            peers[name] = call
        except RuntimeError as error:
            print(f"{entries[0]['problem']}: {name} refuses: {str(error).splitlines()[0]}")
    compare_results(compare, torch, entries, ours, o, expected)
    times = compare.alternate([*ours, *peers.values()], options.rounds, flush)
    return [(kernel.config, time) for kernel, time in zip(ours, times)], dict(zip(peers, times[len(ours):]))


def timed_backward(compare, torch, options, entries, flush):
    """The same of the backward pass."""
    batch, heads, kv_heads, length, size, value, causal = problems()[entries[0]["problem"]]
    q, do = (torch.randn(batch, heads, length, elements, device="cuda").bfloat16() for elements in (size, value))
    k, v = (torch.randn(batch, kv_heads, length, elements, device="cuda").bfloat16() for elements in (size, value))
    log_sums, delta = (torch.empty(batch * heads, length, device="cuda") for _ in range(2))
    tensors = {"Q": q, "K": k, "V": v, "O": torch.empty_like(do), "DO": do, "DQ": torch.empty_like(q), "DK": torch.empty_like(k),
               "DV": torch.empty_like(v)}
    tensors = {name: tensor.view(-1, *tensor.shape[2:]) for name, tensor in tensors.items()} | {"L": log_sums, "DELTA": delta}
    made = [tensors[name] for name in ("DQ", "DK", "DV")]

    kernels, pairs = backward_kernels(compare, options, entries, tensors, {"scale": size ** -0.5})
    names = {"cuDNN": torch.nn.attention.SDPBackend.CUDNN_ATTENTION, "flash": torch.nn.attention.SDPBackend.FLASH_ATTENTION}
    inputs, peers = [tensor.requires_grad_() for tensor in (q, k, v)], {}

    def backend(which):
        with torch.nn.attention.sdpa_kernel(which):
            o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != kv_heads)
        return lambda: torch.autograd.grad(o, inputs, do, retain_graph=True)
    for name, which in names.items():
        try:
            call = backend(which)
            expected = [gradient.float().flatten(0, 1) for gradient in call()]
            peers[name] = call
        except RuntimeError as error:
            print(f"{entries[0]['problem']}: {name} refuses: {str(error).splitlines()[0]}")
    compare_gradients(compare, torch, entries, pairs, made, expected)
    del expected
    times = compare.alternate([*pairs, *peers.values()], options.rounds, flush)
    return [(second.config, time) for second, time in zip(kernels, times)], dict(zip(peers, times[len(kernels):]))


def timed_ragged_backward(compare, torch, options, entries, flush):
    """The same of both."""
    problem = ragged_problems()[entries[0]["problem"]]
    lengths, heads, kv_heads, size, causal = problem
    attention, total = torch.nn.functional.scaled_dot_product_attention, sum(lengths)
    q, do = (torch.randn(total, heads, size, device="cuda").bfloat16() for _ in range(2))
    k, v = (torch.randn(total, kv_heads, size, device="cuda").bfloat16() for _ in range(2))
    starts = torch.tensor([0, *lengths], device="cuda").cumsum(0).int()
    made = [torch.empty_like(tensor) for tensor in (q, k, v)]
    log_sums, delta = (torch.empty(heads, total, device="cuda") for _ in range(2))
    tensors = {"Q": q, "K": k, "V": v, "CU": starts, "CUK": starts, "O": torch.empty_like(q), "DO": do, "L": log_sums, "DELTA": delta,
               **dict(zip(("DQ", "DK", "DV"), made))}
    kernels, pairs = backward_kernels(compare, options, entries, tensors, {"scale": size ** -0.5})
    parts = [tensor.split(lengths) for tensor in (q, k, v, do)]
    peers = {}
    for name, (call, inputs) in ragged_peers(torch, problem, parts).items():
        try:
            inputs = [*(tensor.requires_grad_() for tensor in inputs[:3]), inputs[3]]
            peers[name] = functools.partial(torch.autograd.grad, call(), inputs[:3], inputs[3], retain_graph=True)
            peers[name]()
        except RuntimeError as error:
            peers.pop(name, None)
            print(f"{entries[0]['problem']}: {name} refuses: {str(error).splitlines()[0]}")
    inputs = [tensor.detach().requires_grad_() for tensor in (q, k, v)]
    results = [attention(*(part.transpose(0, 1)[None] for part in one), is_causal=causal, enable_gqa=heads != kv_heads)[0]
               for one in zip(*(tensor.split(lengths) for tensor in inputs))]
    expected = [gradient.float() for gradient in torch.autograd.grad(results, inputs, [part.transpose(0, 1) for part in parts[3]])]
    compare_gradients(compare, torch, entries, pairs, made, expected)
    del expected, results
    times = compare.alternate([*pairs, *peers.values()], options.rounds, flush)
    return [(second.config, time) for second, time in zip(kernels, times)], dict(zip(peers, times[len(kernels):]))


# By whether a problem is ragged, and backward.
METHODS = {(False, False): timed, (True, False): timed_ragged, (False, True): timed_backward, (True, True): timed_ragged_backward}


def measure(compare, torch, options, plans, flush):
    import torch.nn.attention
    print("| problem | us | TFLOP/s | the better backend, us | TFLOP/s | ratio | configuration |\n|---|---:|---:|---|---:|---:|---|")
    of_pin, best = {}, {}
    for name, (*_, causal) in {**problems(), **ragged_problems()}.items():
        entries = [entry for entry in plans if entry["problem"] == name and options.only in name]
        if not entries:
            continue
        try:
            method = METHODS[name.startswith("ragged"), "delta" in entries[0]]
            ours, peers = method(compare, torch, options, entries, flush)
        except (AssertionError, RuntimeError) as error:
            print(f"| {name} | failed: {error} |", flush=True)
            continue
        backend, peer = min(peers.items(), key=lambda item: item[1])
        elements = next(word for word in name.split() if word.startswith("D"))
        kind = f"{'ragged ' if name.startswith('ragged') else ''}{elements} {'causal' if causal else 'full'}"
        for entry, (config, time) in zip(entries, ours):
            flops = entry["plan"]["work"]["flops"]
            of_pin.setdefault((kind, entry["pin"]), []).append(peer / time)
            options.pictured.add(f"{kind} {entry['pin']}".rstrip(), entry["plan"], time, peers)
            print(f"| {name} | {time * 1e3:.1f} | {flops / time / 1e9:,.0f} | {backend} {peer * 1e3:.1f} | {flops / peer / 1e9:,.0f} | "
                  f"{peer / time:.3f} | {config} |", flush=True)
        best.setdefault(kind, []).append(max(peer / time for _, time in ours))
        torch.cuda.empty_cache()
    print("\n| problems | pinned | number | geometric mean | least |\n|---|---|---:|---:|---:|")
    for (kind, pin), values in of_pin.items():
        print(f"| {kind} | {pin} | {len(values)} | {mean_and_least(values, ' | ')} |")
    for kind, values in best.items():
        print(f"| {kind} | the best of each problem | {len(values)} | {mean_and_least(values, ' | ')} |")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="problems whose name contains the word")
    parser.add_argument("--pin", action="append", help="of `prepare`: params of a configuration; may be repeated")
    parser.add_argument("--backward", action="store_true", help="of `prepare`: the backward pass")
    parser.add_argument("--e4m3", action="store_true", help="of `prepare`: operands of 8 bits")
    parser.add_argument("--few", action="store_true", help="of `prepare`: few heads of one sequence")
    parser.add_argument("--shared", action="store_true", help="of `prepare`: few heads of keys of one sequence, which others share")
    parser.add_argument("--ragged", action="store_true", help="of `prepare`: sequences of different lengths")
    options = parser.parse_args()
    run(options, prepare, measure)


if __name__ == "__main__":
    main()
