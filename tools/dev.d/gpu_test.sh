# shellcheck shell=bash
# Runs what needs a GPU.

# Without --device the command would take the emulator for a GPU.
has_gpu() { "${1:-$cli}" run copy N=4096 --device 0 --quiet > /dev/null 2>&1; }

# One line a template file of this device's: the kernel and the file's stem. Each runs on an example of the planner's.
small_problems() {
  local arch
  arch=$("$cli" doctor --json | jq -r '.device.arch')
  "$cli" list --arch "$arch" --json | jq -r '.kernels[] | [.kernel, (.file | split("/") | last | rtrimstr(".cu"))] | join(" ")'
}

command_gpu_test() {
  build_all
  has_gpu || fail "no GPU to test on: $("$cli" run copy N=4096 --device 0 2>&1 | head -1)"
  build/bin/test_unit
  build/bin/test_gpu -tse=agreement
  build/bin/c_api_launch
  local status=0
  python3 -B tests/python/torch_test.py build/lib/libtma_jit.so include/tma_jit/c.h || status=$?
  ((status == 0 || status == 77)) || fail "the C API failed on PyTorch's tensors"
  local sanitizer tool kernel file words
  sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  [[ -x $sanitizer ]] || fail "compute-sanitizer is not installed (package cuda-sanitizer)"
  # A refused cuKernelGetParamInfo is how the driver tells the number of a kernel's parameters: no error of ours.
  local options=(--error-exitcode 9 --report-api-errors no)
  small_problems > build/small_problems
  while read -r kernel file; do
    for tool in memcheck synccheck; do
      say "$tool: $file"
      "$sanitizer" --tool "$tool" "${options[@]}" "$cli" run "$kernel" --template-file "$file" --check < /dev/null
    done
  done < build/small_problems
  say "memcheck: the presets of every probe"
  TMA_JIT_TEST_PRESETS=1 "$sanitizer" --tool memcheck "${options[@]}" build/bin/test_gpu -tc='every probe*'
  # synccheck takes cp.async.mbarrier.arrive, which takes back what it counts, for an arrival too many ("Missing wait").
  say "synccheck: the presets of every probe, but cp.async.mbarrier.arrive"
  TMA_JIT_TEST_PRESETS=1 "$sanitizer" --tool synccheck --kernel-name-exclude kernel_substring=cp_async_copy \
    "${options[@]}" build/bin/test_gpu -tc='every probe*'
  for words in WAIT=0 WAIT=1 WAIT=2; do
    "$sanitizer" --tool synccheck "${options[@]}" "$cli" run cp_async_copy "$words" --check < /dev/null
  done
  say "all kernels and probes are clean under memcheck and synccheck"
  build/bin/test_gpu -ts=agreement  # with the emulator; its table is the last thing printed
}
