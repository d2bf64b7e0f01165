# shellcheck shell=bash
# Runs the tests that need no GPU: tools/dev test [--quick | --full].

# Sanitized builds build only the targets that they run. The command is single-threaded, so that ThreadSanitizer has
# nothing to check there.
readonly asan_targets=(test_unit test_compile test_cli) tsan_targets=(test_unit test_compile)
readonly quick_targets=(tma-jit test_unit test_emulator)

# Kernels that tests have compiled, by the same keys as any cache of kernels: other working trees and later clones find
# them, as ccache's objects.
readonly test_cache=${TMA_JIT_TEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-$PWD/build}/.cache}/tma-jit-tests}

slow_steps=()  # "SECONDS NAME" of the steps before the tests

timed() {  # NAME COMMAND...
  local begin=$SECONDS
  "${@:2}"
  slow_steps+=("$((SECONDS - begin)) $1")
}

# Prints CTest's output, with the ten slowest steps before its summary.
run_ctest() {  # OPTION...
  ctest --test-dir build --output-on-failure --no-label-summary -j "$(nproc)" "$@" |
    awk -v steps="$(printf '%s\n' "${slow_steps[@]}")" -f tools/dev.d/slowest.awk
}

quick_tests() {
  configure_all release "" "-DTMA_JIT_TEST_CACHE=$test_cache"
  timed "the build" build_configured --target "${quick_targets[@]}"
  run_ctest -L quick
}

command_test() {
  case ${1:-} in
    "" | --quick | --full) ;;
    *) fail "test: $1 is neither --quick nor --full" ;;
  esac
  timed "setup" command_setup
  if [[ ${1:-} == --quick ]]; then
    quick_tests
    return
  fi
  local combinations=few
  [[ ${1:-} != --full ]] || combinations=pairs
  configure_all release "$PWD/build-asan;$PWD/build-tsan" "-DTMA_JIT_TEST_CACHE=$test_cache" -DTMA_JIT_SANITIZED_COMBINATIONS=$combinations
  timed "the build" build_configured
  timed "the build with asan" build_sanitized asan "${asan_targets[@]}"
  timed "the build with tsan" build_sanitized tsan "${tsan_targets[@]}"
  if [[ ${1:-} == --full ]]; then
    timed "the emulator's tests in full" tests/emulator/long.sh build/bin/test_emulator clean mutation
    TMA_JIT_TEST_COMBINATIONS=all run_ctest --timeout 7200
  else
    run_ctest
  fi
}
