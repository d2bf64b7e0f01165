#!/usr/bin/env bash
# A clean copy of the tree gives one wheel of at most 15 MB that serves other distributions, whatever the tree's build folders
# hold; it and `pip install .` import without a GPU, compute on the emulator and run the command. It compiles everything, so
# that only `tools/dev test --full` runs it.
# Usage: wheel.sh SOURCE WORK PYTHON
set -euo pipefail
source=$1 work=$2/wheel python=$3
if [[ ${TMA_JIT_TEST_COMBINATIONS:-} != all ]]; then echo "skipped: tools/dev test --full runs it"; exit 77; fi
if ! git -C "$source" rev-parse 2> /dev/null; then echo "skipped: not a clone"; exit 77; fi
rm -rf "$work"
mkdir -p "$work/tree" "$work/wheels" "$work/elsewhere"
git -C "$source" ls-files -z --cached --others --exclude-standard | tar -C "$source" --null -T - -c | tar -C "$work/tree" -x
if ! "$python" -m pip download -q --no-deps -d "$work/found" nanobind; then echo "skipped: no registry of packages"; exit 77; fi
"$python" -m venv "$work/venv"
cd "$work/tree"
"$work/venv/bin/pip" wheel -q . --no-deps -w "$work/wheels"
wheels=("$work"/wheels/*.whl)
((${#wheels[@]} == 1)) || { echo "wheels: ${wheels[*]}"; exit 1; }
[[ ${wheels[0]} == *-manylinux_* ]] || { echo "not for other distributions: ${wheels[0]}"; exit 1; }
size=$(stat -c %s "${wheels[0]}")
((size <= 15000000)) || { echo "${wheels[0]} has $size bytes"; exit 1; }
"$work/venv/bin/pip" install -q --no-index --no-deps --target "$work/site" "${wheels[0]}"
"$work/venv/bin/pip" install -q .
"$work/venv/bin/pip" install -q numpy
cd "$work/elsewhere"
cat > try.py <<'PYTHON'
import numpy as np
import tma_jit
engine = tma_jit.Engine("emulator:sm_90a")
a = np.arange(1000, dtype=np.float32)
y = np.zeros_like(a)
try:
    engine.prepare("map", A=a, Y=y, hooks={"apply": "a * 2"}).launch()
    assert (y == 2 * a).all()
except tma_jit.errors.LibraryMissing as error:
    print("not launched:", error.message)
print(tma_jit.__file__, tma_jit.__version__)
PYTHON
PYTHONPATH=$work/site "$work/venv/bin/python" try.py
"$work/venv/bin/python" try.py
"$work/venv/bin/python" -m tma_jit --version
"$work/venv/bin/tma-jit" list > /dev/null
for server in nginx redis; do  # the engines of a server of kernels, of the wheel
  status=0
  "$python" "$work/tree/tools/fleet/fleet.py" --server "$server" --nodes 100 --seconds 0.1 --tma-jit "$work/site/tma_jit/tma-jit" --check || status=$?
  ((status == 0 || status == 77)) || exit "$status"
done
echo "$(basename "${wheels[0]}"): $size bytes"
rm -rf "$work"
