# shellcheck shell=bash
# Runs libFuzzer on every parser.

# Prints the length limit of inputs; longer ones only take longer.
fuzz_length() {  # TARGET
  case $1 in
    expression | npy) echo 512 ;;
    metadata) echo 1024 ;;
    manifest | worker_frames) echo 2048 ;;
    *) echo 4096 ;;
  esac
}

command_fuzz() {
  local executions=10000000
  if [[ ${1:-} =~ ^[0-9]+$ ]]; then executions=$1; shift; fi
  install_packages clang libclang-rt-dev
  cmake --preset fuzz > /dev/null
  local targets=("$@") target
  if ((${#targets[@]} == 0)); then
    for target in tests/fuzz/*.cpp; do
      target=$(basename "$target" .cpp)
      [[ $target == standalone || $target == libfuzzer ]] || targets+=("$target")
    done
  fi
  cmake --build build-fuzz -j "$(parallel_jobs)" --target "${targets[@]/#/fuzz_}" "${targets[@]/#/libfuzzer_}"
  for target in "${targets[@]}"; do
    say "fuzzing $target: $executions executions"
    mkdir -p "build-fuzz/corpus/$target"
    "build-fuzz/bin/fuzz_$target" --seeds "build-fuzz/corpus/$target"
    (cd build-fuzz && bin/"libfuzzer_$target" -runs="$executions" -max_len="$(fuzz_length "$target")" -rss_limit_mb=1024 -timeout=10 \
      -artifact_prefix="$target-" -verbosity=0 -print_final_stats=1 "corpus/$target")
  done
}
