"""The package tma_jit: as installed, else as this tree has built it."""
import os
import sys

try:
    import tma_jit
except ImportError:
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "python"))
    try:
        import tma_jit
    except ImportError as error:
        sys.exit(f"the package tma_jit is needed: pip install a wheel of `tools/dev wheel`, or name its folder in PYTHONPATH ({error})")
if not hasattr(tma_jit.Engine, "load"):
    sys.exit(f"the package tma_jit in {os.path.dirname(tma_jit.__file__)} is older than this tree, and cannot load a kernel that is built")
