# shellcheck shell=bash
# Formats and lints the sources.

command_format() {
  local formatter
  formatter=$(command -v clang-format-14 || command -v build-venv/bin/clang-format || command -v clang-format || true)
  [[ -n $formatter ]] || fail "clang-format is not installed"
  local mode=(-i)
  [[ ${1:-} != --check ]] || mode=(--dry-run -Werror)
  git ls-files -z '*.h' '*.c' '*.cpp' '*.cu' '*.cuh' | xargs -0 "$formatter" "${mode[@]}"
}

# The files of tools/dev.d are read where tools/dev sources them.
check_scripts() { shellcheck --external-sources --check-sourced tools/dev .ci/run tests/*/*.sh; }

command_lint() {
  if [[ ${1:-} == --scripts ]]; then
    check_scripts
    return
  fi
  install_packages clang-tidy shellcheck
  configure_all dev ""  # whose sources are compiled one by one: each has its command
  cmake --build build-dev --target tma_jit_commit
  local runner
  runner=$(command -v run-clang-tidy || command -v run-clang-tidy-14)
  check_scripts
  "$runner" -p build-dev -quiet -j "$(nproc)" "$PWD/(src|emulator|python|tools|tests)/.*"
}
