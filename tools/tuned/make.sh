#!/usr/bin/env bash
# Makes the records that the library ships for this machine's GPU: tunes the problems of problems.py.
#
#   tools/tuned/make.sh FILE.jsonl [TMA-JIT [SECONDS]]        e.g. cache/tuned/h100.jsonl, after templates have changed
#
# Records of templates that have not changed are kept and cost nothing; others are measured anew and replaced. Takes SECONDS
# (150) and a few more.
set -euo pipefail
file=${1:?FILE.jsonl, which gets the records}
command=${2:-build/bin/tma-jit}
seconds=${3:-150}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[[ -s $file ]] || echo "# Measured on an $(nvidia-smi --query-gpu=name --format=csv,noheader | head -1) by tools/tuned/make.sh, which makes this file anew." >"$file"
python3 "$(dirname "${BASH_SOURCE[0]}")/problems.py" >"$folder/problems.jsonl"
"$command" tune --list "$folder/problems.jsonl" --budget "$seconds" --quiet --cache-dir "$folder/cache" --records "$file" >&2
rm -f "$file".{lock,tuning,trials}
