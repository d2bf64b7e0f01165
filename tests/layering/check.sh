#!/usr/bin/env bash
# Reads every #include of the tree and names each that points the wrong way.
#
#   check.sh [ROOT]
#
# The table is the layering of docs/architecture.md: a folder of src/ and the folders it may include beside itself.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"

files=$(find include src tools tests templates -type f \
  \( -name '*.h' -o -name '*.cpp' -o -name '*.c' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null | sort || true)
# shellcheck disable=SC2086  # paths in the tree have no spaces
awk '
  BEGIN {
    allow("base", "")
    allow("template", "base")
    allow("plan", "base template")
    allow("source", "base template plan")
    allow("compile", "base source")
    allow("cache", "base")
    allow("driver", "base plan")
    allow("emulator", "base driver")
    allow("tune", "base plan driver")
  }
  function allow(folder, others,   list, n, i) {
    known[folder] = 1
    n = split(others, list, " ")
    for (i = 1; i <= n; ++i) allowed[folder, list[i]] = 1
  }
  function complain(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text
    ++faults
  }
  # "cache/store.h" -> "cache"; "store.h" -> ""
  function folder_of(path) { return path ~ /\// ? substr(path, 1, index(path, "/") - 1) : "" }

  function check_source(own, target, quoted) {
    if (target ~ /^(cuda|nvrtc)[A-Za-z_]*\.h$/ && own != "driver" && own != "compile")
      complain("<" target "> belongs in src/driver and src/compile only")
    if (!quoted) return
    if (own != "" && !(own in known)) complain("src/" own " is not in the layering table of tests/layering/check.sh")
    other = folder_of(target)
    if (FILENAME ~ /^src\/c_api[a-z_]*\.(cpp|h)$/ && target != "c_api.h")
      complain("the C API knows <tma_jit/...> only, not \"" target "\"")
    else if (own == "") return  # engine.cpp and its parts know every module
    else if (other == "") complain("a module does not know \"" target "\", which knows every module")
    else if (other != own && !((own, other) in allowed)) complain("src/" own " must not know src/" other)
    if (other != own) edge[own, other] = FILENAME ":" FNR
  }
  function check_tool(target, quoted) {
    if (quoted && folder_of(target) != "") complain("a tool knows <tma_jit/...> and its own folder only, not \"" target "\"")
    if (target ~ /^(nvrtc|cuda)\.h$/) complain("a tool knows <tma_jit/...> only, not <" target ">")
  }
  function check_public(target, quoted) {
    if (quoted) complain("a public header includes <tma_jit/...>, not \"" target "\"")
    if (target ~ /^(cuda|nvrtc|fmt\/|spdlog\/|nlohmann\/|openssl\/)/) complain("a public header must not need <" target ">")
  }

  FNR == 1 { split(FILENAME, part, "/") }
  /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    quoted = $0 ~ /include[ \t]*"/
    target = $0
    sub(/^[^<"]*[<"]/, "", target)
    sub(/[>"].*/, "", target)
    if (part[1] == "src") check_source(!(3 in part) ? "" : part[2], target, quoted)
    else if (part[1] == "include") check_public(target, quoted)
    else if (part[1] == "tools" && part[2] == "tma-jit") check_tool(target, quoted)
    else if (part[1] == "templates" && target !~ /^device\//) complain("a template includes \"device/...\" only, not " target)
  }
  END {
    for (pair in edge) {
      split(pair, side, SUBSEP)
      if ((side[2], side[1]) in edge && side[1] < side[2]) {
        printf "src/%s and src/%s know each other: %s, %s\n", side[1], side[2], edge[pair], edge[side[2], side[1]]
        ++faults
      }
    }
    exit faults > 0
  }
' $files
