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
put src/cache/c.cpp '#include "cache/c.h"' '#include <tma_jit/error.h>' '#include "engine/state.h"'
put src/novel/d.cpp '#include "base/a.h"'
put src/c_api/c.cpp '#include "engine/state.h"'
put src/engine/engine.cpp '#include "cache/c.h"'
put src/base/environment.cpp 'char* all = ::secure_getenv("HOME");'
put emulator/j.cpp 'int environment;' 'auto* home = std::getenv("HOME");' 'for (char** word = environ; *word; ++word) {}'
put emulator/machine/h.cpp '#include "emulator/machine/h.h"' '#include "driver/api.h"' '#include "base/text.h"'
put emulator/machine/k.h '#include "emulator/driver/j.h"'
put emulator/driver/j.h '#include "emulator/machine/k.h"' '#include "emulator/fault.h"'
put emulator/fault.h '#include "emulator/machine/k.h"'
put emulator/isa/copy/l.cpp '#include "emulator/isa/warp/m.h"' '#include "emulator/decode/form.h"' '#include "emulator/isa/families.h"'
put emulator/novel/n.cpp '#include "emulator/fault.h"' '#include "emulator/ptx/o.h"'
put remote/o.cpp '#include "remote/o.h"' '#include <tma_jit/c_remote.h>' '#include <curl/curl.h>' '#include "base/a.h"' '#include <tma_jit/engine.h>'
put src/cache/p.cpp '#include "remote/o.h"' '#include <curl/curl.h>'
put src/driver/i.cpp '#include "emulator/machine/h.h"'
put tools/tma-jit/e.cpp '#include "e.h"' '#include "cache/store.h"' '#include <nvrtc.h>'
put python/native/e.cpp '#include "e.h"' '#include "core/failure.h"' '#include "core/option_fields.h"'
put include/tma_jit/f.h '#include "base/a.h"' '#include <fmt/format.h>'
put templates/kernels/g.cu '#include "device/ptx/tma.cuh"' '#include <cuda/barrier>' '#include "device/probe/box.cuh"'
put templates/device/ptx/h.cuh '#include "device/types.cuh"' '#include "device/tile/tile.cuh"'
put templates/device/novel/i.cuh '#include "device/types.cuh"'

expected='python/native/e.cpp:2: the package knows <tma_jit/...>, its own folder and core/option_fields.h only, not "core/failure.h"
emulator/j.cpp:2: only src/base/environment.cpp reads the environment
emulator/j.cpp:3: only src/base/environment.cpp reads the environment
emulator/driver and emulator/machine know each other: emulator/driver/j.h:1, emulator/machine/k.h:1
emulator/fault.h:1: a file of emulator/ that every room may include must not know emulator/machine
emulator/isa/copy/l.cpp:1: emulator/isa/copy must not know emulator/isa/warp
emulator/machine/k.h:1: emulator/machine must not know emulator/driver
emulator/novel/n.cpp:2: emulator/novel is not in the table of tests/layering/check.sh
emulator/machine/h.cpp:3: the emulator knows <tma_jit/...>, its own folders, driver/api.h and driver/emulator_interface.h, not "base/text.h"
include/tma_jit/f.h:1: a public header includes <tma_jit/...>, not "base/a.h"
include/tma_jit/f.h:2: a public header must not need <fmt/format.h>
remote/o.cpp:4: the remote engines know <tma_jit/c_remote.h> and their own folder only, not "base/a.h"
remote/o.cpp:5: the remote engines know <tma_jit/c_remote.h> and their own folder only, not "tma_jit/engine.h"
src/base/a.cpp:1: src/base must not know src/plan
src/base and src/plan know each other: src/base/a.cpp:1, src/plan/b.h:1
src/c_api/c.cpp:1: src/c_api must not know src/engine
src/cache/c.cpp:3: src/cache must not know src/engine
src/cache and src/engine know each other: src/cache/c.cpp:3, src/engine/engine.cpp:1
src/cache/p.cpp:1: src does not know the remote engines, which it opens at run time: "remote/o.h"
src/cache/p.cpp:2: <curl/curl.h> belongs in remote only
src/driver/i.cpp:1: src does not know the emulator, which it opens at run time: "emulator/machine/h.h"
src/novel/d.cpp:1: src/novel is not in the layering table of tests/layering/check.sh
src/novel/d.cpp:1: src/novel must not know src/base
src/plan/b.h:2: <cuda.h> belongs in src/driver and src/compile only
templates/device/novel/i.cuh:1: templates/device/novel is not in the layering table of tests/layering/check.sh
templates/device/ptx/h.cuh:2: ptx must not know device/tile
templates/kernels/g.cu:2: a template includes "device/..." only, not cuda/barrier
templates/kernels/g.cu:3: kernels must not know device/probe
tools/tma-jit/e.cpp:2: a tool knows <tma_jit/...> and its own folder only, not "cache/store.h"
tools/tma-jit/e.cpp:3: a tool knows <tma_jit/...> only, not <nvrtc.h>'

if found=$("$check" "$root"); then
  echo "check.sh accepted a tree that is wrong in every way"
  exit 1
fi
diff <(sort <<< "$expected") <(sort <<< "$found")
