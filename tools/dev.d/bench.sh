# shellcheck shell=bash
# Measures kernels on a GPU, and the emulator.

bench_row() {  # KERNEL WORD...
  "$cli" bench "$@" --json | jq -r --arg words "${*:2}" '
    def short: . * 100 | round / 100 | tostring;
    "| \(.kernel) | \($words) | \(.median_us | short) | \(.tflops | short) | \(.gb_per_s | short) | \(.share * 100 | short) % (\(.bound)) | \(.host_us | short) |"'
}

command_bench() {
  command_build
  has_gpu || fail "no GPU to measure on: $("$cli" run copy N=4096 --device 0 2>&1 | head -1)"
  echo "| kernel | problem | median us | TFLOP/s | GB/s | share of peak | host us |"
  echo "|---|---|---:|---:|---:|---:|---:|"
  local size
  for size in 1024 2048 4096 8192; do bench_row gemm "M=$size" "N=$size" "K=$size"; done
  bench_row gemm M=64 N=8192 K=8192
  for size in 1048576 67108864 1073741824; do bench_row copy "N=$size"; done
  bench_row copy M=8192 N=16384 --pitch S=16512
  for size in 1048576 67108864; do bench_row map "N=$size" INPUTS=2 --hook "apply=a + b"; done
  bench_row map N=67108864 T=bf16 O=bf16 --hook "apply=a / (1 + __expf(-a))"
  if [[ ${1:-} == --peers ]]; then peers; fi
}

peers() {
  say "the peers, in turn with our kernels (needs PyTorch)"
  python3 tools/compare/compare.py --tma-jit "$cli"
}

command_speed() {
  configure_all release ""
  build_configured --target speed_emulator
  build/bin/speed_emulator "$@"
}
