# shellcheck shell=bash
# Builds: the product, everything with its tests, and tests under a sanitizer.

readonly cli=build/bin/tma-jit

# Without these settings ccache does not cache objects compiled with precompiled headers.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}
# Objects that were compiled in another folder are found: paths below this one count as relative.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD}

# Prints the number of concurrent compiles: as many as there are processors and, at 1.5 GB each, memory.
parallel_jobs() {
  local by_memory
  by_memory=$(awk '/^MemAvailable/ { n = int($2 / 1572864); print (n > 0 ? n : 1) }' /proc/meminfo)
  local processors
  processors=$(nproc)
  echo $((processors < by_memory ? processors : by_memory))
}

# Configures a new build folder without tests, which need more packages; an existing folder keeps its setting.
build_product() {
  local -a without_tests=()
  [[ -e build/CMakeCache.txt ]] || without_tests=(-DTMA_JIT_BUILD_TESTS=OFF)
  cmake --preset release "${without_tests[@]}" > /dev/null
  build_configured --target product
}

configure_all() {  # PRESET SANITIZED-BUILDS [OPTION...]
  find_cuda
  choose_compiler
  local python
  local -a package=(-DTMA_JIT_BUILD_PYTHON=OFF)
  python=$(package_python)
  [[ -z $python ]] || package=(-DTMA_JIT_BUILD_PYTHON=ON -DPython_EXECUTABLE="$python")
  cmake --preset "$1" -DTMA_JIT_BUILD_TESTS=ON -DTMA_JIT_SANITIZED_BUILDS="$2" "${package[@]}" "${@:3}" > /dev/null
}

build_configured() {  # [OPTION...]
  cmake --build build -j "$(parallel_jobs)" "$@"
}

build_all() {
  configure_all release ""
  build_configured
}

build_sanitized() {  # SANITIZER TARGET...
  say "building the tests with $1"
  cmake --preset "$1" > /dev/null
  cmake --build "build-$1" -j "$(parallel_jobs)" --target "${@:2}"
}

command_build() {
  find_cuda
  choose_compiler
  build_product
}
