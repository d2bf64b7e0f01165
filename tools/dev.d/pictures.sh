# shellcheck shell=bash
# Has `tma-jit report` draw the pictures of README.md and docs/performance/gemm.md.

# Prints the products of docs/performance/gemm.md's table of gemm on an H200 with their peer, separated by commas; where
# MORE, such as the device's peaks, is given, with it and all shapes, else the squares.
performance_results() {  # [MORE]
  awk -F' *[|] *' -v more="${1:-}" '
    /^## / { table = $0 }
    table != "## As planned, one H200" || $2 !~ /^[0-9]+ x [0-9]+ x [0-9]+$/ || split($2, side, " x ") != 3 { next }
    more == "" && (side[1] != side[2] || side[2] != side[3]) { next }
    {
      flops = 2 * side[1] * side[2] * side[3]
      bytes = 2 * (side[1] * side[3] + side[2] * side[3] + side[1] * side[2])
      printf "%s{\"kernel\":\"gemm\",\"device\":\"one H200\",\"source\":\"bf16, medians, from docs/performance/gemm.md\",", (rows++ ? ",\n" : "")
      printf "\"dims\":[{\"name\":\"M\",\"value\":%d},{\"name\":\"N\",\"value\":%d},{\"name\":\"K\",\"value\":%d}],", side[1], side[2], side[3]
      printf "\"flops\":%.0f,\"bytes\":%.0f,\"median_us\":%s,%s", flops, bytes, $3, more
      printf "\"peers\":[{\"name\":\"better of cuBLAS and cuBLASLt\",\"median_us\":%s}]}", $6
    }' docs/performance/gemm.md
}

take_picture() {  # PAGE FIGURE WIDTH HEIGHT FILE; light, and dark as FILE-dark
  local scheme profile
  profile=$(mktemp -d)
  for scheme in 1 0; do
    chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --user-data-dir="$profile" \
      --blink-settings=preferredColorScheme=$scheme --virtual-time-budget=5000 --window-size="$3,$4" \
      --screenshot="$PWD/$5$([[ $scheme == 1 ]] || echo -dark).png" "file://$1#$2" 2> /dev/null
  done
  rm -rf "$profile"
}

command_pictures() {
  command -v chromium > /dev/null || fail "there is no chromium: tools/dev setup --full installs it"
  [[ -x $cli ]] || command_build
  local work
  work=$(mktemp -d)
  local peaks
  peaks=$("$cli" estimate gemm M=4096 N=4096 K=4096 --device h200 --json | grep -oE '"peak_(tflops|gb_per_s)": [0-9.]+' | head -2 | tr '\n' ,)
  printf '{"sweep":"M,N,K","results":[%s]}\n' "$(performance_results)" > "$work/sweep.json"
  printf '[%s]\n' "$(performance_results "$peaks")" > "$work/all.json"
  "$cli" run gemm M=64 N=128 K=512 BM=64 BN=128 STAGES=3 --template-file gemm_wgmma --device emulator:sm_90a \
    --trace "$work/trace.json" --quiet
  "$cli" report "$work/sweep.json" "$work/all.json" "$work/trace.json" -o "$work/page.html"
  # Widths and heights are those of the figures.
  take_picture "$work/page.html" throughput-0 960 500 docs/pictures/report-throughput
  take_picture "$work/page.html" roofline-0 960 520 docs/pictures/report-roofline
  take_picture "$work/page.html" timeline-0 960 730 docs/pictures/report-timeline
  rm -rf "$work"
}
