# shellcheck shell=bash
# The long forms of tests: the cache under load and the emulator.

# Mounts small file systems and becomes other users where it may (root); what may not run says so.
command_stress() {
  if command -v apt-get > /dev/null && [[ $(id -u) == 0 ]]; then install_packages e2fsprogs xfsprogs; fi
  build_all
  build/bin/test_stress --full "$@"
}

command_soak() {
  build_all
  local seconds=${1:-86400}
  build/bin/test_stress --full --seconds "$((seconds / 3))" kill eviction folders
}

# Built as everything is, so that a processor emulates at full speed.
command_emulate() {
  build_all
  local -a forms=("$@")
  ((${#forms[@]})) || forms=(clean mutation)
  tests/emulator/long.sh build/bin/test_emulator "${forms[@]}"
}
