#!/usr/bin/env python3
"""The MLP of a transformer of 8 billion parameters as a chain of three gemms in a graph, beside the same gemms launched plainly and
beside PyTorch.

    tools/compare/mlp.py prepare FOLDER [--tma-jit build/bin/tma-jit] [--device h200]
    tools/compare/mlp.py measure FOLDER [--rounds 20] [--compile] [--rows 1 8 64 512]

`prepare` needs no GPU: it plans and builds the products for a named device, with STREAM=1. `measure` runs them where there is a GPU,
with PyTorch and the package tma_jit. Every side is one graph of LAYERS layers, each with weights of its own, which together are larger than
L2; the time is that of a layer. `chained` launches the second and the third product of a layer programmatically, as Engine::chain does
with the three requests; `one chain` all but the first product of the graph, as it does with all requests; `plain` launches the same
kernels one after the other. PyTorch's side is two F.linear, silu, a product and a third F.linear, and with --compile also what
torch.compile makes of them with mode max-autotune-no-cudagraphs. Ratios are their times over that of `chained`.
"""
import os

from command_line import parser_of, run, target
from prepared import prepare as build

WIDTH, HIDDEN = 4096, 14336  # of Llama 3 8B, by its published configuration
LAYERS = 4
ROWS = [1, 8, 64, 512]
SILU = "x * __fdividef(gate[row, column], 1.0f + __expf(-gate[row, column]))"
PRODUCTS = {"gate": (HIDDEN, WIDTH, ()),
            "up": (HIDDEN, WIDTH, ("--operand", "gate : bf16[M, N]", "--hook", f"epilogue={SILU}")),
            "down": (WIDTH, HIDDEN, ())}
# Which products of all layers, by their indices, are launched programmatically.
WAYS = {"chained": lambda i: i % len(PRODUCTS) > 0, "one chain": lambda i: i > 0, "plain": lambda i: False}


def prepare(options):
    entries = []
    for m in options.rows:
        plans = {}
        for name, (n, k, words) in PRODUCTS.items():
            request = ["gemm", f"M={m}", f"N={n}", f"K={k}", "STREAM=1", *words, *options.params.split(), *target(options)]
            plans[name] = build(options.tma_jit, request, os.path.join(options.folder, f"{name}{m}.cubin"))
        entries.append({"rows": m, "plans": plans})
    return entries


class Layers:
    """The weights and results of all layers, for one number of rows."""

    def __init__(self, torch, rows):
        def matrix(name, n, k):  # such that the elements of a layer's result are about as large as those of its input
            return (torch.randn(n, k, device="cuda") * ((3 if name == "down" else 1) / k) ** 0.5).bfloat16()
        self.weights = [{name: matrix(name, n, k) for name, (n, k, _) in PRODUCTS.items()} for _ in range(LAYERS)]
        self.x = [torch.randn(rows, WIDTH, device="cuda").bfloat16() for _ in range(LAYERS + 1)]
        self.gate, self.h = (torch.empty(rows, HIDDEN, device="cuda", dtype=torch.bfloat16) for _ in range(2))

    def launches(self, compare, options, entry, programmatic):
        """Ours. `programmatic` says of the index of a product in all layers whether it is launched so."""
        found = []
        for layer, weights in enumerate(self.weights):
            tensors = {"gate": {"A": self.x[layer], "D": self.gate}, "up": {"A": self.x[layer], "D": self.h, "gate": self.gate},
                       "down": {"A": self.h, "D": self.x[layer + 1]}}
            for name, plan in entry["plans"].items():
                plan["geometry"]["programmatic"] = programmatic(len(found))
                path = os.path.join(options.folder, f"{name}{entry['rows']}.cubin")
                found.append(compare.Kernel(plan, path, {"B": weights[name], **tensors[name]}))
        return found


def graph_of(torch, body):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            body()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()
    return graph


def all_of(launches):
    def body():
        for launch in launches:
            launch()
    return body


def measure_rows(compare, torch, options, entry, flush):
    layers = Layers(torch, entry["rows"])
    linear, silu = torch.nn.functional.linear, torch.nn.functional.silu

    def layer(x, gate, up, down):
        return linear(silu(linear(x, gate)) * linear(x, up), down)

    def peer(call):
        def body():
            x = layers.x[0]
            for weights in layers.weights:
                x = call(x, weights["gate"], weights["up"], weights["down"])
            return x
        return body
    expected = peer(layer)()
    sides, kept = {}, []  # launches have workspaces, which must outlive the graphs
    for name, programmatic in WAYS.items():
        kept.append(layers.launches(compare, options, entry, programmatic))
        sides[name] = graph_of(torch, all_of(kept[-1]))
        for _ in range(20):  # each time from poisoned results
            for result in (layers.gate, layers.h, *layers.x[1:]):
                compare.poisoned(result)
            sides[name].replay()
            error = compare.difference(layers.x[-1], expected)
            assert error < 3e-2, f"{name}, {entry['rows']} rows: differs from PyTorch by {error}"
    sides["PyTorch"] = graph_of(torch, peer(layer))
    if options.compile:
        sides["compiled"] = graph_of(torch, peer(torch.compile(layer, mode="max-autotune-no-cudagraphs", dynamic=False)))
    times = compare.alternate([side.replay for side in sides.values()], options.rounds, flush)
    return {name: time * 1000 / LAYERS for name, time in zip(sides, times)}


def measure(compare, torch, options, entries, flush):
    print("| rows | " + " | ".join(("chained, us", "one chain, us", "plain", "PyTorch", *(["compiled"] if options.compile else []))) + " |")
    print("|---" * (6 if options.compile else 5) + "|")
    for entry in entries:
        if entry["rows"] not in options.rows:
            continue
        times = measure_rows(compare, torch, options, entry, flush)
        ours = times["chained"]
        cells = [f"{time:.1f}" if name in ("chained", "one chain") else f"{time / ours:.3f}" for name, time in times.items()]
        print(f"| {entry['rows']} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--compile", action="store_true", help="of `measure`: torch.compile too, which takes a minute a number of rows")
    parser.add_argument("--params", default="", help="of `prepare`: words that every product's request has too, such as params")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    run(parser.parse_args(), prepare, measure)


if __name__ == "__main__":
    main()
