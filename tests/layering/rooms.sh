#!/usr/bin/env bash
# Holds the rooms of src/ and emulator/ to what is said of them: docs/architecture.md has the table that check.sh enforces; a namespace is its
# folder; no two rooms have a file of one name.
#
#   rooms.sh [ROOT]
# shellcheck disable=SC2016  # backquotes in patterns are Markdown's
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"
faults=0
complain() { printf '%s\n' "$1"; faults=$((faults + 1)); }

# "room: room room", one line a room.
enforced() { sed -nE 's/^ *allow\("([a-z_]+)", "([a-z_ ]*)"\)$/\1: \2/p' tests/layering/check.sh; }
documented() {
  sed -nE 's/^\| `src\/([a-z_]+)` \|.*\| *([a-z_, ]*) *\|$/\1: \2/p' docs/architecture.md | sed -E 's/, */ /g; s/ +$//; s/:$/: /'
}
difference=$(diff <(enforced | sort) <(documented | sort)) || complain "tests/layering/check.sh (<) and docs/architecture.md (>) differ:
$difference"
for folder in src/*/ emulator/*/; do
  name=${folder%/}
  [[ $name == emulator/* ]] || grep -q "^| \`$name\` |" docs/architecture.md || complain "$name is not in the table of docs/architecture.md"
done

# `template` is a word of C++, so that room's namespace is templates. What every room speaks of, in core and base, is in
# tma_jit itself, and so is what the public headers declare.
while IFS=: read -r file namespace; do
  room=${file#src/}
  room=${room%%/*}
  case $room/$namespace in
    core/* | base/* | template/templates) ;;
    "$room/$room" | "$room/$room"::*) ;;
    *) complain "$file: namespace tma_jit::$namespace in the room $room" ;;
  esac
done < <(grep -rnoE '^namespace tma_jit::[a-z_:]+' src --include='*.h' --include='*.cpp' | sed -E 's/:[0-9]+:namespace tma_jit::/:/')

# The same in emulator/, where all of isa/ is one namespace, and the program and the machine that runs it, which every
# other folder uses, are in tma_jit::emulator itself.
while IFS=: read -r file namespace; do
  room=${file#emulator/}
  [[ $room == */* ]] && room=${room%%/*} || room=
  case $room/$namespace in
    / | program/ | machine/) ;;
    "$room/::$room" | "$room/::$room"::*) ;;
    *) complain "$file: namespace tma_jit::emulator$namespace in emulator/$room" ;;
  esac
done < <(find emulator -name "*.h" -o -name "*.cpp" | sort | xargs awk '
  held != "" && !/^(class|struct) [A-Za-z]+;$/ { print held }
  { held = "" }
  match($0, /^namespace tma_jit::emulator[a-z0-9_:]*/) { held = FILENAME ":" substr($0, 28, RLENGTH - 27) }')

while read -r name; do
  complain "files of one name in two rooms: $(find src -name "$name" | sort | tr '\n' ' ')"
done < <(find src \( -name '*.h' -o -name '*.cpp' \) -printf '%f\n' | sort | uniq -d)

# The walk of one parameter names files and functions that are there.
while IFS='|' read -r _ _ file function _; do
  file=${file//[\` ]/}
  function=$(sed -E 's/^ *`([A-Za-z_:]+)`.*/\1/' <<< "$function")
  grep -q "\b${function##*::}\b" "$file" 2> /dev/null || complain "docs/architecture.md: $file has no $function"
done < <(grep -E '^\| [^|]+ \| `[a-z_/-]+\.cpp` \|' docs/architecture.md)

((faults == 0))
