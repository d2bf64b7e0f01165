# shellcheck shell=bash
# Demonstrates the main features: kernels planned, compiled, run and checked; a race detected; a timeline written.

# Prints a command line as a user would type it, then runs it.
shown() {
  local word
  printf '\n$ %s' "$shown_cli"
  for word in "$@"; do
    [[ $word == *[!A-Za-z0-9_=:./,-]* ]] && word="'$word'"
    printf ' %s' "$word"
  done
  printf '\n'
  "$shown_cli" "$@"
}

demo_on_gpu() {
  printf '\nThis machine has a GPU. Three kernels are compiled for it, checked against their float64 references and measured.\n'
  shown run copy N=67108867 --check
  shown bench copy N=1073741824
  shown run map N=1000003 INPUTS=2 --hook "apply=a * b + 1.0f" --check
  shown bench map N=67108864 INPUTS=2 --hook "apply=a * b + 1.0f"
  shown run gemm M=1000 N=1048 K=1032 --check
  shown bench gemm M=8192 N=8192 K=8192
}

demo_on_emulator() {
  cat <<'TEXT'

The emulator is a driver that runs a kernel's PTX on the CPU and checks every access. Three kernels are compiled for Hopper
(sm_90a), Blackwell (sm_100a) and GB10 (sm_121a), run there, and compared with their float64 references.
TEXT
  local arch
  for arch in sm_90a sm_100a sm_121a; do
    shown run copy N=100003 --check --device "emulator:$arch"
    shown run map N=100003 INPUTS=2 --hook "apply=a * b + 1.0f" --check --device "emulator:$arch"
    shown run gemm M=200 N=136 K=96 --check --device "emulator:$arch"
  done
}

demo_race() {
  local template=tools/demo/missing_barrier.cu report status=0
  printf '\n%s lacks a barrier. The emulator names both sides of the race, and ends the run with a failure:\n' "$template"
  report=$(shown run "$template" N=4096 --device emulator:sm_90a 2>&1) || status=$?
  printf '%s\n' "$report"
  [[ $status == 1 && $report == *"race: "* ]] || fail "the run of $template ended with $status and no report of a race"
  printf '\nWith the barrier the same kernel is right:\n'
  shown run "$template" N=4096 BARRIER=1 --check --device emulator:sm_90a
}

demo_timeline() {  # FILE
  printf '\nA timeline of one launch, warp by warp:\n'
  shown run gemm M=200 N=136 K=96 --device emulator:sm_100a --trace "$1"
  printf '\nTo look at it, open https://ui.perfetto.dev in a browser and drop the file on the page:\n  %s\n' "$(realpath "$1")"
}

demo_next_steps() {
  printf '\nWhat to try next:\n'
  printf '  %-72s %s\n' \
    "$cli doctor" "what this machine has, and what is missing" \
    "$cli plan gemm M=4096 N=4096 K=4096 --device h100" "what would be launched on an H100, and why" \
    "$cli emit map N=1000 --hook 'apply=a * 2' --arch sm_121a" "the CUDA text of a kernel" \
    "$cli build gemm M=4096 N=4096 K=4096 --arch sm_100a" "its cubin: registers, spills, shared memory" \
    "$cli check tools/demo/missing_barrier.cu" "build a template's presets and run them on the emulator" \
    "docs/writing-templates.md" "how to write a kernel" \
    "docs/embedding.md" "how to call one from C++, C or Python" \
    "tools/dev test" "all tests that need no GPU"
}

# If the path of a built command is given, installs and builds nothing; the timeline is written to FOLDER.
command_demo() {  # [COMMAND FOLDER]
  if (($# == 0)); then
    prepare_machine "${build_packages[@]}"
    build_product
  fi
  local shown_cli=${1:-$cli} folder=${2:-build}
  if has_gpu "$shown_cli"; then
    demo_on_gpu
  else
    printf '\nNo CUDA driver shows a GPU here, so nothing is measured.\n'
  fi
  demo_on_emulator
  demo_race
  demo_timeline "$folder/gemm.trace.json"
  demo_next_steps
}
