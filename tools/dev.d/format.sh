# shellcheck shell=bash
# Formats the sources.

command_format() {
  local formatter
  formatter=$(command -v clang-format-14 || command -v build-venv/bin/clang-format || command -v clang-format || true)
  [[ -n $formatter ]] || fail "clang-format is not installed"
  local mode=(-i)
  [[ ${1:-} != --check ]] || mode=(--dry-run -Werror)
  git ls-files -z '*.h' '*.c' '*.cpp' '*.cu' '*.cuh' | xargs -0 "$formatter" "${mode[@]}"
}
