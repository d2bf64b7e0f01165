#!/usr/bin/env bash
# The engine for Bazel's protocol beside the protocol's own messages, as BuildStream's package of PyPI generates them: a server parses
# each ActionResult with them, demands its blobs as bazel-remote does, and answers with results that it encodes itself. The package
# has 36 MB, so that only `tools/dev test --full` runs it.
# Usage: bazel.sh TMA-JIT SERVER.py PYTHON
set -euo pipefail
command=$1 script=$2 python=$3
if [[ ${TMA_JIT_TEST_COMBINATIONS:-} != all ]]; then echo "skipped: tools/dev test --full runs it"; exit 77; fi
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps buildstream protobuf || { echo "skipped: no registry of packages"; exit 77; }
"$work/venv/bin/python" -B "$script" "$work/port" > "$work/counts" 2> "$work/log" &
server=$!
for _ in {1..100}; do
  [[ ! -s $work/port ]] || break
  kill -0 "$server" 2> /dev/null || { cat "$work/log"; exit 1; }
  sleep 0.1
done
port=$(< "$work/port")
build() {  # FOLDER ROLE
  "$command" build copy N=4096 --device h100 --json --cache-dir "$work/$1" --remote "bazel+http://127.0.0.1:$port/team" 2> "$work/said"
}
if ! build builder > "$work/built"; then
  grep -q nvrtc "$work/said" && { echo "skipped: no NVRTC"; exit 77; }
  cat "$work/said" "$work/log"
  exit 1
fi
grep -q '"compiled": true' "$work/built" || { echo "the first did not compile"; exit 1; }
build user > "$work/used"
grep -q '"compiled": false' "$work/used" || { echo "the second compiled what the server has"; cat "$work/said" "$work/log"; exit 1; }
[[ ! -s $work/said ]] || { cat "$work/said"; exit 1; }
kill "$server"
wait "$server" 2> /dev/null || true
server=
cat "$work/counts"
grep -q '"refused": 0' "$work/counts" || { cat "$work/log"; exit 1; }
