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
echo "$count headers"
