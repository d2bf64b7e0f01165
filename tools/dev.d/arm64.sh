# shellcheck shell=bash
# Cross-builds for 64-bit Arm.

# Downloads libcrypto and libzstd for arm64 with separate package lists, so that the host's packages are not affected.
arm64_sysroot() {  # FOLDER
  local state=$1/apt
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/packages"
  : > "$state/status"
  local apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::lists=$PWD/$state/lists"
    -o "Dir::Cache=$PWD/$state/cache" -o "Dir::State::status=$PWD/$state/status" -o APT::Sandbox::User=root)
  "${apt[@]}" update || true  # the download tells what is missing
  (cd "$state/packages" && "${apt[@]}" download libssl-dev libzstd-dev) ||
    fail "the package sources of this machine have no arm64; Ubuntu keeps it in an archive of its own: add that as a source"
  local package
  for package in "$state"/packages/*_arm64.deb; do dpkg -x "$package" "$1"; done
}

command_arm64() {
  install_packages g++-aarch64-linux-gnu qemu-user
  local sysroot=build-arm64/sysroot
  [[ -e $sysroot/usr/lib/aarch64-linux-gnu/libzstd.a ]] || arm64_sysroot "$sysroot"
  cmake -S . -B build-arm64 -G Ninja -DCMAKE_BUILD_TYPE=Release --toolchain tools/cmake/aarch64-linux-gnu.cmake \
    -DTMA_JIT_ARM64_SYSROOT="$PWD/$sysroot" -DTMA_JIT_STATIC_DEPENDENCIES=ON -DTMA_JIT_BUILD_REMOTE=OFF -DTMA_JIT_INSTALL=OFF > /dev/null
  cmake --build build-arm64 -j "$(parallel_jobs)" --target test_unit tma-jit
  ctest --test-dir build-arm64 --output-on-failure -R '^unit$'
}
