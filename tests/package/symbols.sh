#!/usr/bin/env bash
# The shared library exports tma_jit's own symbols and needs no CUDA library.
#
#   symbols.sh LIBRARY
set -euo pipefail
library=$1
exported=$(nm -DC --defined-only "$library" | cut -d' ' -f3-)
[[ -n $exported ]] || { echo "$library exports nothing"; exit 1; }
foreign=$(grep -vE '^(tma_jit::|tma_jit_|(typeinfo|typeinfo name|vtable) for tma_jit::)' <<< "$exported" || true)
[[ -z $foreign ]] || { printf 'exported, and not ours:\n%s\n' "$foreign"; exit 1; }
needed=$(objdump -p "$library" | awk '$1 == "NEEDED" { print $2 }')
cuda=$(grep -E '^lib(cuda|nvrtc|cudart)' <<< "$needed" || true)
[[ -z $cuda ]] || { echo "links $cuda, which must be opened at run time"; exit 1; }
echo "$(wc -l <<< "$exported") symbols; needs $(tr '\n' ' ' <<< "$needed")"
