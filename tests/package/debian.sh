#!/usr/bin/env bash
# The Debian package has everything that a user needs at its place, says what it depends on, and its command works from where
# it is unpacked.
#
#   debian.sh BUILD WORK
#
# Exit 77: this is no Debian.
set -euo pipefail
build=$1
work=$2/debian
command -v dpkg-deb > /dev/null && command -v dpkg-shlibdeps > /dev/null && command -v file > /dev/null || exit 77

rm -rf "$work"
mkdir -p "$work/root"
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
packages=("$work"/*.deb)
[[ ${#packages[@]} == 1 && -e ${packages[0]} ]] || { echo "not one package: ${packages[*]}"; exit 1; }
dpkg-deb -x "${packages[0]}" "$work/root"

faults=0
complain() { echo "debian: $*"; faults=1; }
has() { [[ -n $(compgen -G "$work/root/usr/$1") ]] || complain "usr/$1 is missing"; }
has bin/tma-jit
has libexec/tma-jit/tma-jit-cc
for library in libtma_jit.so libtma_jit.so.0 libtma_jit.a libtma_jit_emulator.so libtma_jit_remote.so; do has "lib/$library"; done
for file in include/tma_jit/tma_jit.h include/tma_jit/c.h lib/cmake/tma_jit/tma_jit-config.cmake lib/pkgconfig/tma_jit.pc \
  share/tma-jit/warm.jsonl share/tma-jit/tuned/h100.jsonl share/tma-jit/templates/device/ptx/tma.cuh share/tma-jit/templates/kernels/gemm_wgmma.cu \
  share/tma-jit/templates/probes/elect.cu share/doc/tma_jit/LICENSE share/doc/tma_jit/README.md \
  share/doc/tma_jit/docs/embedding.md "share/doc/tma_jit/docs/pictures/*.svg" \
  "share/man/man1/tma-jit.1*" share/bash-completion/completions/tma-jit share/zsh/vendor-completions/_tma-jit \
  share/fish/vendor_completions.d/tma-jit.fish; do
  has "$file"
done
stray=$(find "$work/root" -type f -printf '%P\n' |
  grep -vE '^usr/(bin|lib|libexec/tma-jit|include/tma_jit|share/(tma-jit|doc/tma_jit|man/man1|bash-completion|zsh|fish))/' || true)
[[ -z $stray ]] || complain "files that nothing asked for: $stray"
depends=$(dpkg-deb -f "${packages[0]}" Depends)
for library in libc6 libssl libzstd libfmt libspdlog; do
  [[ $depends == *"$library"* ]] || complain "Depends does not name $library: $depends"
done
[[ $depends != *cuda* && $depends != *nvidia* ]] || complain "Depends names CUDA, which is opened at run time: $depends"

export TMA_JIT_CACHE_DIR=$work/cache LD_LIBRARY_PATH=$work/root/usr/lib
output=$("$work/root/usr/bin/tma-jit" run copy N=1000 --check --device emulator:sm_90a 2>&1) || complain "the command fails: $output"
[[ $output == *passed* ]] || complain "the command does not pass: $output"
exit "$faults"
