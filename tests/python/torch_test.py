#!/usr/bin/env python3
"""The C API from ctypes on PyTorch tensors: values, streams, graphs, changing shapes, threads, devices, errors.

    torch_test.py LIBTMA_JIT.SO C.H

Ends with 77 where there is no PyTorch or no device.
"""
import sys
import threading

import tma_jit
from checks import check, failure_of

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)
if not torch.cuda.is_available():
    print("skipped: no device")
    sys.exit(77)


def matrices(m, n, k, device="cuda"):
    """Small integers: every product and sum is exact."""
    a, b = (torch.randint(-4, 5, shape, device=device).to(torch.bfloat16) for shape in ((m, k), (n, k)))
    return a, b, torch.full((m, n), float("nan"), dtype=torch.bfloat16, device=device)


def expected(a, b):
    return (a.double() @ b.double().T).to(torch.bfloat16)


def test_gemm(engine):
    a, b, d = matrices(512, 384, 256)
    launch = engine.prepare("gemm", {"A": a, "B": b, "D": d})
    torch.cuda.synchronize()
    launch.run()
    torch.cuda.synchronize()
    check(torch.equal(d, expected(a, b)), "gemm")
    other = torch.full_like(d, float("nan"))
    launch.rebind("D", other)
    launch.run()
    torch.cuda.synchronize()
    check(torch.equal(other, d), "gemm into a rebound tensor")


def test_stream(engine):
    """Work on PyTorch's own stream is ordered with the tensors' other work; nothing synchronises."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a, b, d = matrices(256, 256, 256)
        engine.prepare("gemm", {"A": a, "B": b, "D": d}).run(stream.cuda_stream)
        product = d * 2
    stream.synchronize()
    check(torch.equal(product, expected(a, b) * 2), "gemm on a stream of PyTorch's")


def test_strided(engine):
    """A column slice: rows further apart than they are long, as a view without a copy."""
    whole = torch.randn(300, 512, device="cuda")
    source = whole[:, 64:320]
    target = torch.full((300, 256), float("nan"), device="cuda")
    check(not source.is_contiguous(), "the slice")
    launch = engine.prepare("copy", {"S": source, "D": target})
    launch.run(torch.cuda.current_stream().cuda_stream)
    torch.cuda.synchronize()
    check(torch.equal(source, target), "a copy of a slice")


def test_function(engine):
    add = engine.function("map", params={"INPUTS": 2}, hooks={"apply": "a * 2.0f + b"})
    stream = torch.cuda.current_stream().cuda_stream
    for count in (1000, 77777, 1000, 4096):
        a, b = (torch.randn(count, device="cuda") for _ in range(2))
        y = torch.full((count,), float("nan"), device="cuda")
        add(a, b, None, None, y, stream=stream)
        torch.cuda.synchronize()
        check(torch.allclose(y, a * 2 + b), f"map of {count}")


def test_graph(engine):
    a, b, d = matrices(256, 256, 128)
    launch = engine.prepare("gemm", {"A": a, "B": b, "D": d})
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch.run(torch.cuda.current_stream().cuda_stream)
    for _ in range(2):
        a.copy_(torch.randint(-4, 5, a.shape, device="cuda"))
        d.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        check(torch.equal(d, expected(a, b)), "a replayed graph")


def test_threads(engine):
    faults = []

    def work(seed):
        try:
            torch.manual_seed(seed)
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                for size in (128, 256, 384):
                    a, b, d = matrices(size, 256, 128)
                    engine.prepare("gemm", {"A": a, "B": b, "D": d}).run(stream.cuda_stream)
                    stream.synchronize()
                    check(torch.equal(d, expected(a, b)), f"gemm of {size} in a thread")
        except Exception as fault:  # pylint: disable=broad-except
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not faults, faults)


def test_errors(engine):
    a, b, d = matrices(64, 64, 64)
    error = failure_of(lambda: engine.prepare("gemm", {"A": a, "B": b.float(), "D": d}))
    check(error.code == "invalid_argument" and "tensor B" in str(error), str(error))
    error = failure_of(lambda: engine.prepare("gemm", {"A": a, "B": b, "D": d[:32]}))
    check(error.code == "invalid_argument", str(error))
    launch = engine.prepare("gemm", {"A": a, "B": b, "D": d})
    error = failure_of(lambda: launch.rebind("D", d.view(-1)[1:]))
    check(error.code == "invalid_argument" and "multiple of" in error.message, str(error))


def test_devices(library):
    """An engine a device; PyTorch's current device stays what it was."""
    for index in range(torch.cuda.device_count()):
        engine = tma_jit.Engine(library, device=str(index), no_cache=1)
        a, b, d = matrices(256, 128, 64, f"cuda:{index}")
        launch = engine.prepare("gemm", {"A": a, "B": b, "D": d})
        torch.cuda.synchronize(index)
        launch.run()
        torch.cuda.synchronize(index)
        check(torch.cuda.current_device() == 0, "the current device")
        check(torch.equal(d, expected(a, b)), f"gemm on device {index}")
    return torch.cuda.device_count()


def main():
    torch.manual_seed(1)
    torch.cuda.init()
    library = tma_jit.Library(sys.argv[1], sys.argv[2])
    engine = tma_jit.Engine(library, no_cache=1)
    print(f"on {engine.device().name.decode()}, PyTorch {torch.__version__}")
    for test in (test_gemm, test_stream, test_strided, test_function, test_graph, test_threads, test_errors):
        test(engine)
        print(f"  {test.__name__} passed")
    print(f"  test_devices passed on {test_devices(library)} devices")


if __name__ == "__main__":
    main()
