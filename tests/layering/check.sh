#!/usr/bin/env bash
# Reads every #include of the tree and names each that points the wrong way.
#
#   check.sh [ROOT]
#
# The table is the layering of docs/architecture.md: a folder of src/ and the folders it may include beside itself.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"

files=$(find include src emulator python remote tools tests templates -type f \
  \( -name '*.h' -o -name '*.cpp' -o -name '*.c' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null | sort || true)
# shellcheck disable=SC2086  # paths in the tree have no spaces
awk '
  BEGIN {
    allow_room("numeric", "")
    allow_room("matrix", "numeric")
    allow_room("tensor", "numeric")
    allow_room("ptx", "")
    allow_room("program", "ptx")
    allow_room("check", "")
    allow_room("machine", "numeric matrix tensor ptx program check")
    allow_room("runtime", "program machine")
    allow_room("decode", "ptx program machine runtime")
    allow_room("isa", "decode")
    allow_room("isa/*", "numeric matrix tensor ptx program check machine decode")
    allow_room("observe", "machine")
    allow_room("driver", "tensor ptx program machine decode isa observe")
    allow("core", "")
    allow("base", "core")
    allow("device", "core base")
    allow("template", "core base device")
    allow("plan", "core base device template estimation")
    allow("source", "core base template plan")
    allow("compile", "core base source")
    allow("cache", "core base")
    allow("driver", "core base device plan")
    allow("engine", "core base device template plan source compile cache driver tuning")
    allow("tuning", "core base source")
    allow("estimation", "core base")
    allow("json", "core base device")
    allow("warm", "core base json")
    allow("c_api", "core")
    layer("ptx", "")
    layer("tile", "ptx")
    layer("pipeline", "ptx tile")
    layer("schedule", "ptx tile")
    layer("reduce", "ptx tile")
    layer("epilogue", "ptx tile reduce")
    layer("reference", "ptx tile")
    layer("probe", "ptx tile pipeline schedule reduce epilogue reference")
    layer("kernels", "ptx tile pipeline schedule reduce epilogue reference")
    layer("probes", "ptx tile pipeline schedule reduce epilogue reference probe")
  }
  function allow_room(room, others,   list, n, i) {
    rooms[room] = 1
    n = split(others, list, " ")
    for (i = 1; i <= n; ++i) inner[room, list[i]] = 1
  }
  function allow(folder, others,   list, n, i) {
    known[folder] = 1
    n = split(others, list, " ")
    for (i = 1; i <= n; ++i) allowed[folder, list[i]] = 1
  }
  # The same for the folders of templates/ and templates/device/.
  function layer(folder, others,   list, n, i) {
    layered[folder] = 1
    n = split(others, list, " ")
    for (i = 1; i <= n; ++i) below[folder, list[i]] = 1
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
    if (target ~ /^(curl|hiredis)\//) complain("<" target "> belongs in remote only")
    if (!quoted) return
    if (!(own in known)) complain("src/" own " is not in the layering table of tests/layering/check.sh")
    other = folder_of(target)
    if (other == "emulator" || other == "remote") {
      complain("src does not know the " (other == "remote" ? "remote engines, which" : "emulator, which") " it opens at run time: \"" target "\"")
      return
    }
    if (other != own && !((own, other) in allowed)) complain("src/" own " must not know src/" other)
    if (other != own) edge[own, other] = FILENAME ":" FNR
  }
  # The emulator is a library of its own: of src/ it knows what it says to the core and nothing that would have to be
  # linked. Its rooms have a table too; isa/FAMILY is a room for each family, and none of them knows another.
  function check_emulator(target, quoted,   own, other) {
    if (!quoted) return
    if (target !~ /^emulator\//) {
      if (target !~ /^driver\/(api|emulator_interface)\.h$/)
        complain("the emulator knows <tma_jit/...>, its own folders, driver/api.h and driver/emulator_interface.h, not \"" target "\"")
      return
    }
    own = room_of(FILENAME)
    other = room_of(target)
    if (other == own || other == "" || own == "") {
      if (other != own && own == "") complain("a file of emulator/ that every room may include must not know emulator/" other)
      return
    }
    if (own ~ /^isa\/./ && (other == "isa" || ("isa/*", other) in inner)) return
    if (!((own ~ /^isa\/./ ? "isa/*" : own) in rooms)) complain("emulator/" own " is not in the table of tests/layering/check.sh")
    else if (!((own, other) in inner)) complain("emulator/" own " must not know emulator/" other)
    room_edge[own, other] = FILENAME ":" FNR
  }
  # "emulator/isa/copy/copy.h" -> "isa/copy"; "emulator/fault.h" -> ""
  function room_of(path) {
    sub(/^emulator\//, "", path)
    return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : ""
  }
  # The engines of the remote level are a library of their own that shares one public header with the core.
  function check_remote(target, quoted) {
    if (quoted ? target !~ /^remote\// : target ~ /^tma_jit\// && target != "tma_jit/c_remote.h")
      complain("the remote engines know <tma_jit/c_remote.h> and their own folder only, not \"" target "\"")
  }
  # The package is made of the public API, and of the list from which its keywords are generated.
  function check_package(target, quoted) {
    if (quoted && folder_of(target) != "" && target != "core/option_fields.h")
      complain("the package knows <tma_jit/...>, its own folder and core/option_fields.h only, not \"" target "\"")
    if (target ~ /^(nvrtc|cuda)\.h$/) complain("the package knows <tma_jit/...> only, not <" target ">")
  }
  function check_tool(target, quoted) {
    if (quoted && folder_of(target) != "") complain("a tool knows <tma_jit/...> and its own folder only, not \"" target "\"")
    if (target ~ /^(nvrtc|cuda)\.h$/) complain("a tool knows <tma_jit/...> only, not <" target ">")
  }
  # `own` is "" for device/types.cuh, which every template includes.
  function check_template(own, target,   other) {
    if (target !~ /^device\//) {
      complain("a template includes \"device/...\" only, not " target)
      return
    }
    other = folder_of(substr(target, 8))
    if (own != "" && !(own in layered)) complain("templates/device/" own " is not in the layering table of tests/layering/check.sh")
    else if (other != "" && other != own && !((own, other) in below)) complain((own == "" ? "device/types.cuh" : own) " must not know device/" other)
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
    if (part[1] == "emulator") check_emulator(target, quoted)
    else if (part[1] == "remote") check_remote(target, quoted)
    else if (part[1] == "src") check_source(!(3 in part) ? "" : part[2], target, quoted)
    else if (part[1] == "include") check_public(target, quoted)
    else if (part[1] == "python") check_package(target, quoted)
    else if (part[1] == "tools" && part[2] == "tma-jit") check_tool(target, quoted)
    else if (part[1] == "templates") check_template(part[2] != "device" ? part[2] : (4 in part) ? part[3] : "", target)
  }
  (part[1] == "src" || part[1] == "emulator" || part[1] == "remote") && FILENAME !~ /^src\/base\/environment\.cpp$/ &&
  /(^|[^A-Za-z_])((secure_)?getenv|environ)([^A-Za-z_]|$)/ {
    complain("only src/base/environment.cpp reads the environment")
  }
  END {
    for (pair in edge) {
      split(pair, side, SUBSEP)
      if ((side[2], side[1]) in edge && side[1] < side[2]) {
        printf "src/%s and src/%s know each other: %s, %s\n", side[1], side[2], edge[pair], edge[side[2], side[1]]
        ++faults
      }
    }
    for (pair in room_edge) {
      split(pair, side, SUBSEP)
      if ((side[2], side[1]) in room_edge && side[1] < side[2]) {
        printf "emulator/%s and emulator/%s know each other: %s, %s\n", side[1], side[2], room_edge[pair], room_edge[side[2], side[1]]
        ++faults
      }
    }
    exit faults > 0
  }
' $files
