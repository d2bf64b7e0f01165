#!/usr/bin/env python3
"""Prints the problems whose records the library ships, as a list for `tma-jit tune --list`.

Kernels that are bound by memory, at rows of large models. Then gemm: in bf16 products of documented comparisons, and the layers of
transformers by the dimensions in their published configurations (config.json), for several numbers of rows; in e4m3 the documented
products, with exact and with fast sums.
"""
import json

# hidden size, heads, heads of keys and values, elements of a head, inner size of the MLP
MODELS = {"Llama 3 8B, Mixtral 8x7B": (4096, 32, 8, 128, 14336), "Llama 3 70B": (8192, 64, 8, 128, 28672),
          "Qwen 2.5 7B": (3584, 28, 4, 128, 18944), "Qwen 3 8B": (4096, 32, 8, 128, 12288),
          "Qwen 3 32B": (5120, 64, 8, 128, 25600)}
DEEPSEEK = [(1536, 7168), (576, 7168), (24576, 1536), (32768, 512), (7168, 16384), (36864, 7168), (7168, 18432), (4096, 7168),
            (7168, 2048)]  # N and K of DeepSeek V3: latent attention, its dense MLP, its experts
DOCUMENTED = [(1024,) * 3, (2048,) * 3, (4096,) * 3, (8192,) * 3, (4096, 14336, 4096), (4096, 4096, 14336),
              (8192, 8192, 28672), (16, 8192, 8192), (64, 8192, 8192), (128, 7168, 4096), (128, 24576, 1536), (512, 4096, 7168),
              (2048, 7168, 2048), (4096, 7168, 2304), (5000, 5120, 2880)]
ROWS = [1, 16, 64, 128, 512, 2048, 8192]
MOST = 2e12  # operations: longer products differ little, and take the time of many others
MEMORY = {"softmax": [(32768, 4096), (8192, 16384), (131072, 1024)], "rms_norm": [(32768, 4096), (8192, 16384), (131072, 1024)],
          "layer_norm": [(32768, 4096), (8192, 16384), (131072, 1024)], "transpose": [(32768, 4096), (8192, 16384)],
          "copy": [(32768, 4096), (8192, 8192)]}


def layers():
    for hidden, heads, shared, element, inner in MODELS.values():
        yield (heads + 2 * shared) * element, hidden
        yield hidden, heads * element
        yield 2 * inner, hidden
        yield hidden, inner
    yield from DEEPSEEK


def main():
    for kernel, sizes in MEMORY.items():
        for m, n in sizes:
            batch = {"B": 1} if kernel == "transpose" else {}
            print(json.dumps({"kernel": kernel, "types": {"T": "bf16"}, "dims": {**batch, "M": m, "N": n}}))
    products = DOCUMENTED + [(m, n, k) for m in ROWS for n, k in dict.fromkeys(layers())]
    for m, n, k in dict.fromkeys(products):
        if 2 * m * n * k <= MOST:
            print(json.dumps({"kernel": "gemm", "dims": {"M": m, "N": n, "K": k}}))
    for m, n, k in DOCUMENTED:
        for fast in (0, 1):
            params = {"params": {"FAST": 1}} if fast else {}
            print(json.dumps({"kernel": "gemm", "types": {"T": "e4m3"}, "dims": {"M": m, "N": n, "K": k}, **params}))


if __name__ == "__main__":
    main()
