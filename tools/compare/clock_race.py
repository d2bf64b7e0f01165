"""Configurations of one product of bf16, in turns in one process, under both regimes of the clock.

A pause of 20 ms before a few milliseconds of launches leaves the device's clock as it is when the device has rested; rounds that follow
each other take it to its power limit. In each regime every configuration is launched `rounds` times in each of several places in memory, in
turns with the others, after 128 MB were overwritten, which is more than twice L2. Short launches, whose times vary more with the place, are
measured in more places. A time is the median of a place; its ratio to the first configuration's there counts, and the mean of both regimes.
"""
import statistics
import time

from package import tma_jit

PAUSE_S = 0.02
FLUSH_US = 50  # of overwriting 128 MB
BUSY_S = 0.004  # of launches that a pause precedes
WARM_S = 0.2  # of launches without a pause before the second regime
LONG_US, MORE = 100, 6  # launches of the first configuration that are shorter have so many times the places
REGIMES = ["rested", "in a loop"]


class Memory:
    """The tensors of a problem, in memory with some room, all of which holds random data."""

    ROOM = 2 << 20
    STEP = 256

    def __init__(self, torch, problem):
        m, n, k = problem
        self.shapes = {"A": (m, k), "B": (n, k), "D": (m, n)}
        self.buffers = {name: torch.randn(rows * columns + self.ROOM // 2, device="cuda").bfloat16()
                        for name, (rows, columns) in self.shapes.items()}

    def tensors(self, place):
        """Views at other addresses in every place, and other distances between them."""
        for index, (name, (rows, columns)) in enumerate(self.shapes.items()):
            begin = place * (1301 + 1046 * index) % (self.ROOM // self.STEP) * self.STEP // 2
            yield name, self.buffers[name][begin:begin + rows * columns].view(rows, columns)


class Race:
    """Launches of the configurations (a file's stem, and params as pairs) that the engine can prepare, by configuration."""

    def __init__(self, torch, engine, problem, configurations):
        self.torch = torch
        self.memory = Memory(torch, problem)
        self.flush = torch.empty(128 << 20, dtype=torch.uint8, device="cuda")
        self.launches = {}
        for file, params in configurations:
            try:
                self.launches[file, params] = engine.prepare("gemm", tensors=dict(self.memory.tensors(0)), file=file, params=dict(params))
            except tma_jit.Error:
                continue  # of an earlier run, and no longer offered

    def check(self):
        """Every configuration multiplies as PyTorch does."""
        tensors = dict(self.memory.tensors(0))
        expected = self.torch.mm(tensors["A"], tensors["B"].T).float()
        for one, launch in self.launches.items():
            tensors["D"].fill_(float("nan"))
            launch.launch(self.torch.cuda.current_stream())
            error = ((tensors["D"].float() - expected).norm() / expected.norm()).item()
            assert error < 4e-3, f"{one} differs from PyTorch's product by {error}"

    def queue(self, launch, flushed=True):
        """Queues one launch. Returns its events."""
        if flushed:
            self.flush.zero_()
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        stream = self.torch.cuda.current_stream()
        begin.record()
        launch.launch(stream)
        end.record()
        return begin, end

    def warm(self):
        until = time.monotonic() + WARM_S
        while time.monotonic() < until:
            for launch in self.launches.values():
                self.queue(launch, flushed=False)
            self.torch.cuda.synchronize()

    def rest(self):
        self.torch.cuda.synchronize()
        time.sleep(PAUSE_S)
        self.queue(next(iter(self.launches.values())))  # the first launch after a pause is not like the others

    def place(self, place, rounds, pauses):
        """Microseconds of each configuration in a place: medians. `pauses`: the seconds that each launch takes, if there are pauses."""
        tensors = dict(self.memory.tensors(place))
        for launch in self.launches.values():
            launch.rebind(**tensors)
        events = [[] for _ in self.launches]
        busy = float("inf")
        for _ in range(rounds):
            for index, (launch, those) in enumerate(zip(self.launches.values(), events)):
                if pauses is not None and busy > BUSY_S:
                    self.rest()
                    busy = 0
                those.append(self.queue(launch))
                busy += pauses[index] if pauses is not None else 0
        self.torch.cuda.synchronize()
        return [statistics.median(1e3 * begin.elapsed_time(end) for begin, end in those) for those in events]

    def run(self, places, rounds):
        """For each configuration, for each regime, microseconds in each place, of which there are at least so many."""
        first = self.place(0, rounds, None)
        count = places * (MORE if first[0] < LONG_US else 1)
        rested = [self.place(place, rounds, [1e-6 * (us + FLUSH_US) for us in first]) for place in range(count)]
        self.warm()
        regimes = [rested, [self.place(place, rounds, None) for place in range(count)]]
        return {one: [[of_place[index] for of_place in regime] for regime in regimes] for index, one in enumerate(self.launches)}


def score(times, one, places):
    """The time of a configuration relative to the first one's, in those places, the mean of both regimes."""
    first = next(iter(times.values()))
    return statistics.fmean(times[one][regime][place] / first[regime][place] for regime in range(len(REGIMES)) for place in places)


def against_best(times, one, among=None):
    """The time of the fastest of `among`, of all by default, relative to that of one configuration. Which one is the fastest is told by
    half of the places, and how fast it is by the other half, because of many configurations that which was lucky would win."""
    count = len(times[one][0])
    halves = range(0, count, 2), range(1, count, 2)
    ratios = []
    for told, measured in (halves, halves[::-1]):
        best = min(among or times, key=lambda other: score(times, other, told))
        ratios.append(score(times, best, measured) / score(times, one, measured))
    return statistics.geometric_mean(ratios)
