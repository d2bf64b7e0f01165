#!/usr/bin/env bash
# The long forms of the emulator's tests on all processors: long.sh TEST_EMULATOR [clean|mutation|layer]...
#   clean     every kernel and probe, every architecture, 3 policies x 20 seeds: no report
#   mutation  every kernel and probe with one synchronising instruction removed or weakened: 95 in 100 reported
#   layer     the same of a sample of those of templates/device/pipeline, reduce and schedule: 97 in 100 reported
# Prints a table last. Needs NVRTC.
set -euo pipefail

readonly test=$1
shift
jobs=$(nproc)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# There are more shards than processors, because some presets take much longer than others.
run_shards() {  # ENVIRONMENT CASES
  local shards=$((8 * jobs))
  # shellcheck disable=SC2016  # the inner shell expands its own parameters
  seq 0 $((shards - 1)) | xargs -P "$jobs" -I '{}' sh -c \
    'env "$1=full" TMA_JIT_SHARD="$2/$3" "$4" -tc="$5" > "$6/$1.$2" 2>&1' sh "$1" '{}' "$shards" "$test" "$2" "$folder"
}

clean() {
  local status=0
  run_shards TMA_JIT_CLEAN '*is clean under every policy' || status=1
  grep -h -A12 'ERROR:' "$folder"/TMA_JIT_CLEAN.* || true
  awk '/presets, run [0-9]+ times/ { sub(":", "", $1); n[$1] += $2; runs[$1] += $5 }
       END { for (a in n) printf "%s: %d presets, run %d times\n", a, n[a], runs[a] }' \
    "$folder"/TMA_JIT_CLEAN.* | sort
  ((status == 0)) || echo "clean: FAILED"
  return "$status"
}

# A single shard may be below the threshold, which applies to the sum.
mutation() {
  run_shards TMA_JIT_MUTATION 'kernels with a weakened synchronisation*' || true
  grep -h -A6 'ERROR:' "$folder"/TMA_JIT_MUTATION.* | grep -v 'CHECK( total' || true
  grep -h '^survived: ' "$folder"/TMA_JIT_MUTATION.* | sort || true
  awk -F'|' '
    /^\| [a-z]/ && $2 !~ /instruction/ { gsub(" ", "", $2); for (i = 3; i <= 6; ++i) sum[$2, i] += $i; seen[$2] = 1 }
    END { for (name in seen) printf "| %s | %d | %d | %d | %d |\n", name, sum[name, 3], sum[name, 4], sum[name, 5], sum[name, 6] }' \
    "$folder"/TMA_JIT_MUTATION.* | sort > "$folder/rows"
  printf '| instruction | mutants | reported | equivalent | survived |\n|---|---:|---:|---:|---:|\n'
  grep -v '^| all ' "$folder/rows" || true
  awk -F'|' '/^\| all / { print; counted = $4 + $6; share = counted > 0 ? $4 / counted : 0 }
    END { printf "reported: %.1f %% of %d\n", 100 * share, counted; exit !(share >= 0.95) }' "$folder/rows"
}

status=0
for form in "${@:-clean}"; do
  case $form in
    clean) clean || status=1 ;;
    mutation) mutation || status=1 ;;
    layer) TMA_JIT_MUTATION=layer "$test" -tc='kernels with a weakened synchronisation*' || status=1 ;;
    *) echo "long.sh: no form is named $form" >&2; exit 2 ;;
  esac
done
exit "$status"
