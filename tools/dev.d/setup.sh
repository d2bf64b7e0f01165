# shellcheck shell=bash
# Installs what the build and the tests need, and finds the CUDA toolkit and a compiler.

readonly build_packages=(cmake ninja-build g++ ccache libfmt-dev libspdlog-dev libexpected-dev nlohmann-json3-dev libssl-dev
  libzstd-dev libcli11-dev libcurl4-openssl-dev libhiredis-dev)
readonly test_packages=(doctest-dev git jq pkg-config python3 shellcheck clang-format-14 nginx-light redis-server curl)

# Installs those of the given packages that are missing.
install_packages() {
  local missing=() package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true) == *installed* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local -a as_root=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo > /dev/null || fail "these packages are missing, and there is no sudo to install them: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"
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

command_setup() { prepare_machine "${build_packages[@]}" "${test_packages[@]}"; }
