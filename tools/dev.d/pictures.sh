# shellcheck shell=bash
# Has `tma-jit report` draw the pictures of README.md.

# Prints the square products of docs/performance/gemm.md's table of gemm on an H200 as a sweep with its peer.
performance_sweep() {
  awk -F' *[|] *' '
    /^## / { table = $0 }
    table == "## As planned, one H200" && split($2, side, " x ") == 3 && side[1] == side[2] && side[2] == side[3] {
      printf "%s{\"kernel\":\"gemm\",\"device\":\"one H200\",\"source\":\"bf16, medians, from docs/performance/gemm.md\",", (rows++ ? ",\n" : "{\"sweep\":\"M,N,K\",\"results\":[\n")
      printf "\"dims\":[{\"name\":\"M\",\"value\":%d},{\"name\":\"N\",\"value\":%d},{\"name\":\"K\",\"value\":%d}],", side[1], side[1], side[1]
      printf "\"flops\":%.0f,\"median_us\":%s,\"peers\":[{\"name\":\"better of cuBLAS and cuBLASLt\",\"median_us\":%s}]}", 2 * side[1] ^ 3, $3, $6
    }
    END { print "]}" }' docs/performance/gemm.md
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
  performance_sweep > "$work/sweep.json"
  "$cli" run gemm M=64 N=128 K=512 BM=64 BN=128 STAGES=3 --template-file gemm_wgmma --device emulator:sm_90a \
    --trace "$work/trace.json" --quiet
  "$cli" report "$work/sweep.json" "$work/trace.json" -o "$work/page.html"
  # Widths and heights are those of the figures.
  take_picture "$work/page.html" throughput-0 960 500 docs/pictures/report-throughput
  take_picture "$work/page.html" timeline-0 960 730 docs/pictures/report-timeline
  rm -rf "$work"
}
