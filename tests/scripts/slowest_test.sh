#!/usr/bin/env bash
# The list of the slowest steps: in order, ten at most, steps and tests together, and before CTest's summary.
set -euo pipefail
script=$(dirname "${BASH_SOURCE[0]}")/../../tools/dev.d/slowest.awk

ctest_output() {
  echo "      Start  1: t1"
  local i
  for i in 1 2 3 4 5 6 7 8 9 10 11; do
    printf '%2d/12 Test  #%d: t%d .......................   Passed    %d.50 sec\n' "$i" "$i" "$i" "$i"
  done
  echo "12/12 Test #12: gpu ......................***Skipped   0.01 sec"
  printf '\n100%% tests passed, 0 tests failed out of 12\n\nTotal Test time (real) =  66.00 sec\n'
}

expected="100 the build
11.5 t11
10.5 t10
9.5 t9
8.5 t8
7.5 t7
7 setup
6.5 t6
5.5 t5
4.5 t4"
output=$(ctest_output | awk -v steps=$'7 setup\n100 the build' -f "$script")
shown=$(sed -n '/^The slowest steps/,/^$/p' <<< "$output" | awk 'NF > 1 && /^ / { t = $1 + 0; $1 = ""; print t $0 }')
[[ $shown == "$expected" ]] || { printf 'the list is\n%s\n' "$shown"; exit 1; }
[[ $(tail -3 <<< "$output") == $'100% tests passed, 0 tests failed out of 12\n\nTotal Test time (real) =  66.00 sec' ]] ||
  { printf 'the summary is not last:\n%s\n' "$output"; exit 1; }
[[ $(ctest_output | awk -v steps= -f "$script" | grep -c '^ .*  t[0-9]*$') == 10 ]] || { echo "without steps: not ten tests"; exit 1; }
