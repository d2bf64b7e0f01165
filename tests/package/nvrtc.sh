#!/usr/bin/env bash
# NVRTC from NVIDIA's packages for Python, where the machine has no CUDA toolkit: a fresh environment with each of them, the toolkit
# hidden behind empty folders, finds it, compiles with it and computes on the emulator. It downloads 100 MB a package, so that only
# `tools/dev test --full` runs it.
# Usage: nvrtc.sh PACKAGE-FOLDER PYTHON
set -euo pipefail
package=$1 python=$2
if [[ ${TMA_JIT_TEST_COMBINATIONS:-} != all ]]; then echo "skipped: tools/dev test --full runs it"; exit 77; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! unshare --user --map-root-user --mount true 2> /dev/null; then echo "skipped: no mount namespaces"; exit 77; fi
mkdir "$work/none" "$work/home"
cat > "$work/try.py" <<'PYTHON'
import sys
import numpy as np
import tma_jit
engine = tma_jit.Engine("emulator:sm_90a", use_cache=False)
if len(sys.argv) < 2:
    try:
        engine.build("map", dims={"N": 10}, hooks={"apply": "a"})
        sys.exit("an NVRTC is left: " + str(engine.environment()["nvrtc"]))
    except tma_jit.errors.LibraryMissing:
        sys.exit()
found = engine.environment()["nvrtc"]
assert found["path"].startswith(sys.argv[1]), found
a = np.arange(1000, dtype=np.float32)
y = np.zeros_like(a)
launch = engine.prepare("map", A=a, Y=y, hooks={"apply": "a * 2"})
launch.launch()
assert (y == 2 * a).all() and launch.artifact.compiled
cubin = tma_jit.Engine("h100", use_cache=False).build("gemm", dims={"M": 64, "N": 64, "K": 64})
assert cubin.compiled and cubin.data[:4] == b"\x7fELF"
print(found["path"].split("site-packages/")[-1], found["version"])
PYTHON
# Runs words where no folder has a toolkit: those of the search in docs/compiling.md are empty.
bare() {
  # shellcheck disable=SC2016  # expanded inside
  unshare --user --map-root-user --mount bash -c '
    none=$1; shift
    for folder in /usr/local/cuda* /opt/cuda* /usr/lib/cuda*; do [[ ! -d $folder || -L $folder ]] || mount --bind "$none" "$folder"; done
    for library in /usr/lib/x86_64-linux-gnu/libnvrtc.so* /usr/lib64/libnvrtc.so* /usr/local/lib/libnvrtc.so*; do
      [[ ! -e $library ]] || mount --bind /dev/null "$library"
    done
    exec env -i PATH=/usr/bin:/bin HOME="$HOME" PYTHONPATH="$PYTHONPATH" "$@"' bash "$work/none" "$@"
}
export PYTHONPATH=$package HOME=$work/home
"$python" -m venv "$work/none-installed"
"$work/none-installed/bin/pip" install -q numpy || { echo "skipped: no registry of packages"; exit 77; }
bare "$work/none-installed/bin/python" -B "$work/try.py"
for name in nvidia-cuda-nvrtc nvidia-cuda-nvrtc-cu12; do
  venv=$work/$name
  "$python" -m venv "$venv"
  "$venv/bin/pip" install -q numpy "$name" || { echo "skipped: no registry of packages"; exit 77; }
  bare "$venv/bin/python" -B "$work/try.py" "$venv"
  bare "$venv/bin/python" -B -m tma_jit doctor > "$work/said" || true
  grep -q "$venv" "$work/said" || { echo "doctor did not find the NVRTC of $name:"; cat "$work/said"; exit 1; }
  rm -rf "$venv"
done
