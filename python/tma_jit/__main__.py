"""python -m tma_jit VERB ...: the command `tma-jit` of this package."""
import os
import sys


def main() -> None:
    command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tma-jit")
    os.environ.setdefault("VIRTUAL_ENV", sys.prefix)  # where the command looks for NVRTC in NVIDIA's packages
    os.execv(command, ["tma-jit", *sys.argv[1:]])


if __name__ == "__main__":
    main()
