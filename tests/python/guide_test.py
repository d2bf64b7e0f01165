#!/usr/bin/env python3
"""The Python of docs/python.md, run as one program; blocks with PyTorch only where it has a GPU.

    guide_test.py PYTHON.MD
"""
import re
import sys

from checks import needs_nvrtc, skip

try:
    import numpy  # noqa: F401  pylint: disable=unused-import
except ImportError:
    skip("no NumPy")


def has_gpu():
    try:
        import torch
        return torch.cuda.is_available()
    except ImportError:
        return False


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), flags=re.M | re.S)
    assert len(blocks) >= 5, blocks
    names = {}
    for block in blocks:
        if "torch" not in block or has_gpu():
            exec(compile(block, sys.argv[1], "exec"), names)  # pylint: disable=exec-used


if __name__ == "__main__":
    with needs_nvrtc():
        main()
