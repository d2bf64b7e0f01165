"""The command line of a comparison whose kernels are built where there is no GPU, and timed where there is one."""
import argparse
import os

import prepared
from pictured import Pictured


def parser_of(description, device="h200", rounds=20):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("prepare", "measure"))
    parser.add_argument("folder")
    parser.add_argument("--tma-jit", default="build/bin/tma-jit")
    parser.add_argument("--device", default=device)
    parser.add_argument("--templates", action="append", default=[],
                        help="of `prepare`: folder of templates, instead of the command's own")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--report", metavar="FILE", help="of `measure`: also write the results, with the peers', for `tma-jit report`")
    return parser


def target(options):
    """The words of a request that say which device it is for, and whose templates."""
    return ["--device", options.device, *(word for folder in options.templates for word in ("--templates", folder))]


def run(options, prepare, measure):
    """Calls prepare(options), which returns the plans, or measure(compare, torch, options, plans, flush) on them; `flush` is what
    compare.alternate overwrites, and options.pictured takes what --report writes."""
    if options.verb == "prepare":
        os.makedirs(options.folder, exist_ok=True)
        prepared.write_plans(options.folder, prepare(options))
        return
    import compare  # needs PyTorch and the driver, which `prepare` does without
    import torch
    flush = compare.start(options.rounds)
    options.pictured = Pictured(torch.cuda.get_device_name(), f"medians of {options.rounds} rounds in turn with the peers, L2 flushed")
    measure(compare, torch, options, prepared.read_plans(options.folder), flush)
    if options.report:
        options.pictured.write(options.report)
