# shellcheck shell=bash
# Runs the long tests: the cache under load and the emulator.

# Mounts small file systems and becomes other users if permitted (root); reports the parts that it had to skip.
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

# Uses the normal build, so that the emulator runs at full speed.
command_emulate() {
  build_all
  local -a forms=("$@")
  ((${#forms[@]})) || forms=(clean mutation)
  tests/emulator/long.sh build/bin/test_emulator "${forms[@]}"
}
