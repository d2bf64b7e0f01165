# shellcheck shell=bash
# Lints the sources with clang-tidy and the scripts with shellcheck.

# Other releases find other things, and those before 16 do not understand the ranges of GCC's library.
readonly linter_release=19

# Sets linter to clang-tidy, which it installs: as a package of the system's or of Python's.
install_linter() {
  linter=clang-tidy-$linter_release
  ! command -v "$linter" > /dev/null || return 0
  if apt-cache show "$linter" &> /dev/null; then
    install_packages "$linter"
    return
  fi
  linter=build-venv/bin/clang-tidy
  [[ ! -x $linter ]] || return 0
  install_python_packages
  build-venv/bin/python -m pip install -q "clang-tidy==$linter_release.*" || fail "clang-tidy $linter_release could not be installed"
}

# The files of tools/dev.d are read where tools/dev sources them.
check_scripts() { shellcheck --external-sources --check-sourced tools/dev .ci/run tests/*/*.sh; }

# Makes build-lint/compile_commands.json, which has each source once and none that the build generates. With `batches`, sources
# stand in batches of up to 32, because most of the time goes to the headers; with `sources`, they stand alone.
configure_lint() {  # batches|sources
  local unity=OFF
  [[ $1 != batches ]] || unity=ON
  configure_all lint "" -DTMA_JIT_UNITY_BUILD=$unity
  cmake --build build-lint --target tma_jit_commit > /dev/null
  mkdir -p build-lint/clean build-lint/tests
  cp tests/.clang-tidy build-lint/tests  # by its place a batch belongs to the tests
  jq --arg tree "$PWD/" 'map(select(.file | startswith($tree) and (ltrimstr($tree) | test("^build-(?!lint/.*/Unity/)") | not)))
    | unique_by(.file)' build-lint/compile_commands.json > build-lint/commands.json
  mv build-lint/commands.json build-lint/compile_commands.json
}

# Prints what a file's findings depend on, as sha256sum does: the file, what it includes of this tree, and the settings.
lint_inputs() {  # FILE COMMAND
  bash -c "${2% -o *} -MM $1" | sed 's/^[^ ]*://; s/\\$//' | xargs sha256sum .clang-tidy tests/.clang-tidy
}

# Lints a file, unless it was clean and nothing has changed since.
lint_file() {  # FILE
  local file=$1 command clean
  command=$(jq -r --arg file "$file" '.[] | select(.file == $file).command' build-lint/compile_commands.json)
  clean=build-lint/clean/$(sha256sum <<< "$file $command" | cut -c 1-32)
  ! sha256sum --check --status "$clean" 2> /dev/null || return 0
  [[ -z $command ]] || lint_inputs "$file" "$command" > "$clean.new"  # else it is a header by itself
  if ! "$linter" -p build-lint --quiet --checks="$without" --extra-arg=-Wno-unused-command-line-argument \
    --header-filter="^$PWD/(include|src|emulator|remote|python|tools|tests)/" "$file" 2> "$clean.log"; then
    grep -v 'warnings\? generated\|^Suppressed\|^Use -header-filter' "$clean.log"
    return 1
  fi
  [[ -z $command ]] || mv "$clean.new" "$clean"
}
export -f lint_file lint_inputs

lint_files() {  # lines FILE of the input
  export linter without
  # shellcheck disable=SC2016  # for the inner shell
  xargs -P "$(parallel_jobs)" -I {} bash -c 'lint_file "$0"' {}
}

# Prints the sources and headers that are unlike those of a commit or not known to git.
changed_files() {  # COMMIT
  {
    git diff --name-only --diff-filter=d "$1" -- '*.h' '*.c' '*.cpp'
    git ls-files --others --exclude-standard -- '*.h' '*.c' '*.cpp'
  } | sort -u | sed "s#^#$PWD/#"
}

command_lint() {
  if [[ ${1:-} == --scripts ]]; then
    check_scripts
    return
  fi
  install_packages jq shellcheck
  install_linter
  check_scripts
  if [[ ${1:-} == --changed ]]; then
    without=""
    configure_lint sources
    changed_files "${2:-$(git merge-base HEAD origin/main 2> /dev/null || echo HEAD~1)}" | lint_files
  else
    # The analyzer reads only what is no included file, and takes as long as the rest; a batch includes sources by design.
    without="-clang-analyzer-*,-bugprone-suspicious-include"
    configure_lint batches
    jq -r '.[].file' build-lint/compile_commands.json | lint_files
  fi
}
