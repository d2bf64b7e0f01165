#!/usr/bin/env bash
# Opens a page of `tma-jit report` in Chromium, light and dark, and fails on an error of its console, a picture without
# labels, or a blank one. Screenshots are written into FOLDER.
#
#   browser.sh COMMAND FOLDER
#
# Exits with 77 where there is no Chromium or the command has no plotting library.
set -euo pipefail
command=$1 folder=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[[ -n $browser ]] || { echo "there is no Chromium"; exit 77; }
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$command" estimate gemm M=4096 N=4096 K=4096 --device h100 --candidates 8 --json > "$work/estimate.json"
inputs=("$here/sweep.json" "$here/tune.json" "$here/doctor.json" "$here/stats.json" "$work/estimate.json")
expected="throughput-0 roofline-0 roofline-1 configurations-0 configurations-1 occupancy-0"
if "$command" run copy N=4096 --device emulator:sm_90a --trace "$work/trace.json" > /dev/null 2>&1; then
  inputs+=("$work/trace.json")
  expected+=" timeline-0"
fi
expected+=" cache comparison-0 doctor-0"
page="$folder/page.html"
if ! "$command" report "${inputs[@]}" -o "$page" 2> "$work/error"; then
  cat "$work/error"
  grep -q 'chart.js was not installed' "$work/error" && exit 77
  exit 1
fi

# Without a sandbox, because tests run as root in containers; the page is ours and has no network.
chromium() {  # SCHEME WORD...
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --user-data-dir="$work/profile" \
    --enable-logging=stderr --blink-settings=preferredColorScheme="$1" --virtual-time-budget=5000 "${@:2}"
}
fail() { echo "$*"; status=1; }

status=0
{ cat "$page"; echo "<script>"; cat "$here/inspect.js"; echo "</script>"; } > "$work/inspected.html"
for scheme in light dark; do
  number=$([[ $scheme == dark ]] && echo 0 || echo 1)
  chromium "$number" --dump-dom "file://$work/inspected.html" > "$work/dom.html" 2> "$work/log"
  if grep CONSOLE "$work/log"; then fail "$scheme: the console has messages"; fi
  grep -q 'data-faults="none"' "$work/dom.html" || fail "$scheme: $(grep -o 'data-faults="[^"]*"' "$work/dom.html" || echo 'the page did not load')"
  grep -q "data-figures=\"$expected\"" "$work/dom.html" || fail "$scheme: $(grep -o 'data-figures="[^"]*"' "$work/dom.html") instead of $expected"
  grep -q "data-dark=\"$([[ $scheme == dark ]] && echo true || echo false)\"" "$work/dom.html" || fail "$scheme: it is not the scheme"
  chromium "$number" --window-size=1120,5200 --screenshot="$folder/$scheme.png" "file://$page" 2> "$work/log"
  [[ -s $folder/$scheme.png ]] || fail "$scheme: there is no screenshot"
done
if cmp -s "$folder/light.png" "$folder/dark.png"; then fail "light and dark look the same"; fi
exit "$status"
