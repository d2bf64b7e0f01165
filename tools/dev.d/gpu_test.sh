# shellcheck shell=bash
# Runs the tests that need a GPU.

# Without --device the command would use the emulator if there is no GPU.
has_gpu() { "${1:-$cli}" run copy N=4096 --device 0 --quiet > /dev/null 2>&1; }

# Prints a line per template file for this device: the kernel and the file's stem. Each is run on an example problem.
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
  local status=0 python
  python=$(package_python)
  [[ -z $python ]] || PYTHONPATH=build/python "$python" -B tests/python/torch_test.py || status=$?
  ((status == 0 || status == 77)) || fail "the Python package failed on PyTorch's tensors"
  local sanitizer tool kernel file words
  sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  [[ -x $sanitizer ]] || fail "compute-sanitizer is not installed (package cuda-sanitizer)"
  # The driver reports the number of a kernel's parameters by failing cuKernelGetParamInfo, which is not an error here.
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
  # synccheck counts cp.async.mbarrier.arrive, which leaves the pending count unchanged, as a superfluous arrival
  # ("Missing wait").
  say "synccheck: the presets of every probe, but cp.async.mbarrier.arrive"
  TMA_JIT_TEST_PRESETS=1 "$sanitizer" --tool synccheck --kernel-name-exclude kernel_substring=cp_async_copy \
    "${options[@]}" build/bin/test_gpu -tc='every probe*'
  for words in WAIT=0 WAIT=1 WAIT=2; do
    "$sanitizer" --tool synccheck "${options[@]}" "$cli" run cp_async_copy "$words" --check < /dev/null
  done
  say "all kernels and probes are clean under memcheck and synccheck"
  build/bin/test_gpu -ts=agreement  # includes the emulator; prints its table at the end
}
