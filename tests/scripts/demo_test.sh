#!/usr/bin/env bash
# Runs the demo with a built command: it ends well, everything it runs passes, the planted race is reported at its line,
# and its timeline is one.
#
#   demo_test.sh COMMAND
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TMA_JIT_CACHE_DIR=$folder/cache
status=0
tools/dev demo "$1" "$folder" > "$folder/output" 2> "$folder/errors" || status=$?

faults=0
expect() {  # WHAT TEST-WORD...
  "${@:2}" && return
  echo "demo: $1"
  faults=1
}
# shellcheck disable=SC2317  # expect calls these
contains() { grep -q -- "$1" "$folder/output"; }
# shellcheck disable=SC2317
passes() { [[ $(grep -c '^  passed$' "$folder/output") -ge $1 ]]; }

line=$(grep -n 'words\[i\] \*= 2' tools/demo/missing_barrier.cu | cut -d: -f1)
expect "ends with $status" test "$status" = 0
expect "prints errors" test ! -s "$folder/errors"
expect "fewer than ten runs pass" passes 10
for arch in sm_90a sm_100a sm_121a; do
  for kernel in copy map gemm; do
    expect "$kernel is not run as $arch" contains "^$kernel on .*, emulated ($arch)"
  done
done
expect "the race is not reported at line $line" contains "written by warp .* at .*tools/demo/missing_barrier.cu:$line"
expect "the timeline is no list of events" grep -q '^{"traceEvents":\[' "$folder/gemm.trace.json"
expect "the path of the timeline is not printed" contains "^  $folder/gemm.trace.json$"
expect "the documents it names are missing" test -e docs/writing-templates.md -a -e docs/embedding.md
if ((faults)); then cat "$folder/output" "$folder/errors"; fi
exit "$faults"
