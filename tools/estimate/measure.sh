#!/usr/bin/env bash
# Measures the problems of problems.jsonl on this machine's GPU, several configurations of each, for fit.py.
#
#   tools/estimate/measure.sh FILE.json [TMA-JIT [SECONDS]]
#
# Writes the object that `tma-jit tune --json` prints; records and cache are put aside. Takes SECONDS (150) and a few more.
set -euo pipefail
file=${1:?FILE.json, which gets what is measured}
command=${2:-build/bin/tma-jit}
seconds=${3:-150}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$command" tune --list "$(dirname "${BASH_SOURCE[0]}")/problems.jsonl" --candidates 12 --budget "$seconds" --json --quiet \
  --cache-dir "$folder" --records "$folder/tuned.jsonl" >"$folder/measured.json"
mv "$folder/measured.json" "$file"
