#!/usr/bin/env bash
# What the tile layer of templates/device is for: kernels stay as short as it made them, and swizzles are computed nowhere else.
#
#   bodies.sh [ROOT]
#
# Prints the lines of the bodies: those of a file that are no manifest, no comment and not blank.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"

faults=0
complain() { echo "$*"; faults=1; }

lines_of() { cat "$@" | grep -cvE '^[[:space:]]*(//.*)?$'; }
hold() {  # NAME MOST FILE...
  local name=$1 most=$2 lines
  lines=$(lines_of "${@:3}")
  echo "$name: $lines lines, at most $most"
  ((lines <= most)) || complain "$name has more lines than that: move what its files share into templates/device"
}

# Before the tile layer the four had 739 lines.
hold "gemm, four files" $((739 * 55 / 100)) templates/kernels/gemm_{wgmma,mma,mma_cp_async,tcgen05}.cu
hold softmax 60 templates/kernels/softmax.cu
for unit in wgmma mma mma_cp_async tcgen05; do hold "attention_$unit" 150 "templates/kernels/attention_$unit.cu"; done

# An XOR with bits of a row's number, which is what a swizzle is.
swizzles() { grep -E '\^[^=;]*((>>|<<|/)[^;]*[&%]|%)|\^ *\(?[a-z_.]+ *& *[0-9(]'; }
while IFS= read -r line; do
  swizzles <<< "$line" > /dev/null || complain "the pattern of swizzles misses: $line"
done << 'LINES'
return chunk ^ row / (128 / Width) % (Width / 16);
return linear ^ (linear >> 3 & (width - 16));
return byte ^ ((byte >> 7 & 7) << 4);
from = (c / words ^ r % 8) * words;
at = column ^ (lane & 7);
LINES
while IFS= read -r line; do
  ! swizzles <<< "$line" > /dev/null || complain "the pattern of swizzles also has: $line"
done << 'LINES'
phase ^= slot / Stages & 1;
const int row = blockIdx.x, from = WAY == 3 ? row ^ 1 : row;
sum += (A.data[row * A.stride[0]] ^ B.data[column * B.stride[0]]) & 1;
a = (Form >> 1 & 1) ^ 1;
LINES
if found=$(find templates -name '*.cu*' -not -path 'templates/device/tile/*' -exec grep -nHvE '^[[:space:]]*//' {} + | swizzles); then
  complain "a swizzle is computed outside of templates/device/tile:
$found"
fi
exit "$faults"
