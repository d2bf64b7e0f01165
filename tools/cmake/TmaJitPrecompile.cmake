# Precompiles the headers that most files of a target include: the standard library's and those of the named
# dependencies (fmt/format.h, nlohmann/json.hpp and others). Sources with their own optimisation flags cannot use them
# and should set SKIP_PRECOMPILE_HEADERS.
#
#   tma_jit_precompile(TARGET HEADER...)
function(tma_jit_precompile TARGET)
  if(NOT TMA_JIT_PRECOMPILE_HEADERS)
    return()
  endif()
  set(headers algorithm array atomic charconv chrono cstdint cstring filesystem functional map memory mutex optional set
    span string string_view thread unordered_map utility variant vector tl/expected.hpp ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "<\\1>")
  target_precompile_headers(${TARGET} PRIVATE ${headers})
endfunction()

# Lets TARGET use the precompiled headers of OTHER, whose compile options must be TARGET's.
#
#   tma_jit_precompiled_by(OTHER TARGET)
function(tma_jit_precompiled_by OTHER TARGET)
  if(TMA_JIT_PRECOMPILE_HEADERS)
    target_precompile_headers(${TARGET} REUSE_FROM ${OTHER})
  endif()
endfunction()
