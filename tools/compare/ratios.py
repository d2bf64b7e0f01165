"""What the last table of a comparison says of the ratios of many problems."""
from statistics import geometric_mean


def mean_and_least(ratios, between=", "):
    return f"{geometric_mean(ratios):.3f}{between}{min(ratios):.3f}"


def print_shares(kind, shares):
    """`shares` are those of a copy's rate and of PyTorch's that problems of each kind have."""
    print(f"\n| {kind} | problems | of a copy: geometric mean, least | of PyTorch: geometric mean, least |\n|---|---:|---:|---:|")
    for name, values in shares.items():
        print(f"| {name} | {len(values)} | {' | '.join(map(mean_and_least, zip(*values)))} |")
