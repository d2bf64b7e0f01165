#!/usr/bin/env bash
# Every public header compiles by itself, twice over, with nothing but the public folder to include from; c.h also as C.
#
#   headers.sh INCLUDE_FOLDER C++_COMPILER
set -euo pipefail
include=$1
compiler=$2
flags=(-fsyntax-only -I"$include" -Wall -Wextra -Wpedantic -Werror)
count=0
for path in "$include"/tma_jit/*.h; do
  header="tma_jit/$(basename "$path")"
  printf '#include <%s>\n#include <%s>\n' "$header" "$header" | "$compiler" -std=c++20 "${flags[@]}" -x c++ -
  count=$((count + 1))
done
if [[ -e $include/tma_jit/c.h ]]; then
  printf '#include <tma_jit/c.h>\n' | "$compiler" -std=c99 "${flags[@]}" -Wstrict-prototypes -x c -
fi
# Values are made with designated initialisers; what is not named has its default, and no warning.
"$compiler" -std=c++20 "${flags[@]}" -x c++ - <<'TEXT'
#include <tma_jit/tma_jit.h>
using namespace tma_jit;
Options options{.device = Device::known("h100"), .cache = {.bytes = 1}, .compiler = {.workers = 1}, .line_info = true};
Request request{.kernel = "gemm", .tensors = {{.name = "A", .tensor = {.address = 256}}}, .dims = {{"M", 1}}};
Plan plan{.kernel = "gemm",
          .constants = {{.name = "BM", .value = 128}},
          .dims = {{.name = "M", .value = 1}},
          .hooks = {{.name = "epilogue", .parameters = {{.name = "x"}}}},
          .arguments = {{.kind = Argument::Kind::tensor_map, .name = "A", .map = TensorMapSpec{.rank = 2}}},
          .geometry = {.grid = {1, 1, 1}},
          .work = {.flops = 1}};
Source source{.kernel = "gemm", .headers = {{.name = "device/own.cuh"}}};
Artifact cubin{.entry = "gemm", .resources = {.registers = 32}};
DeviceInfo device{.name = "h100", .sm_count = 132};
MeasureOptions how{.repeats = 3};
Error error{.code = ErrorCode::io, .message = "lost"};
TEXT
echo "$count headers"
