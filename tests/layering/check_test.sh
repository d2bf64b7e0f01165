#!/usr/bin/env bash
# check.sh must find every kind of wrong edge: a tree with one of each is made, and each must be named.
set -euo pipefail
check=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/check.sh
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

put() {  # PATH LINE...
  mkdir -p "$root/$(dirname "$1")"
  printf '%s\n' "${@:2}" > "$root/$1"
}
put src/base/a.cpp '#include "plan/b.h"'
put src/plan/b.h '#include "base/a.h"' '  #  include <cuda.h>'
put src/cache/c.cpp '#include "cache/c.h"' '#include <tma_jit/error.h>' '#include "engine_state.h"'
put src/novel/d.cpp '#include "base/a.h"'
put src/c_api.cpp '#include "engine_state.h"'
put src/engine.cpp '#include "cache/c.h"'
put tools/tma-jit/e.cpp '#include "e.h"' '#include "cache/store.h"' '#include <nvrtc.h>'
put include/tma_jit/f.h '#include "base/a.h"' '#include <fmt/format.h>'
put templates/kernels/g.cu '#include "device/tma.cuh"' '#include <cuda/barrier>'

expected='include/tma_jit/f.h:1: a public header includes <tma_jit/...>, not "base/a.h"
include/tma_jit/f.h:2: a public header must not need <fmt/format.h>
src/base/a.cpp:1: src/base must not know src/plan
src/base and src/plan know each other: src/base/a.cpp:1, src/plan/b.h:1
src/cache/c.cpp:3: a module does not know "engine_state.h", which knows every module
src/c_api.cpp:1: the C API knows <tma_jit/...> only, not "engine_state.h"
src/novel/d.cpp:1: src/novel is not in the layering table of tests/layering/check.sh
src/novel/d.cpp:1: src/novel must not know src/base
src/plan/b.h:2: <cuda.h> belongs in src/driver and src/compile only
templates/kernels/g.cu:2: a template includes "device/..." only, not cuda/barrier
tools/tma-jit/e.cpp:2: a tool knows <tma_jit/...> and its own folder only, not "cache/store.h"
tools/tma-jit/e.cpp:3: a tool knows <tma_jit/...> only, not <nvrtc.h>'

if found=$("$check" "$root"); then
  echo "check.sh accepted a tree that is wrong in every way"
  exit 1
fi
diff <(sort <<< "$expected") <(sort <<< "$found")
