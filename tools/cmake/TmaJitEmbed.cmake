# Converts files to a C++ source that contains their bytes, at build time.
#
#   tma_jit_embed(OUTPUT file.cpp SYMBOL name BASE dir FILES a b ... [PACKED | HEADER header NAMESPACE namespace])
#
# The source defines `extern const tma_jit::EmbeddedFile name[]` and `extern const unsigned long nameCount`; a file's
# name is its path below BASE. PACKED compresses the files, and the source defines `extern const EmbeddedArchive name`:
# those of one folder are in one pack, except that kernels, of which a process needs few, are in one pack with those
# whose names begin with the same word and have the same of the words tcgen05, wgmma and mma (with those that have none
# are the references), and that each file of records is alone. Outside the library, HEADER
# declares the struct EmbeddedFile in NAMESPACE.
set(TMA_JIT_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/EmbedFiles.cmake)

function(tma_jit_embed)
  cmake_parse_arguments(ARG "PACKED" "OUTPUT;SYMBOL;BASE;HEADER;NAMESPACE" "FILES" ${ARGN})
  if(NOT ARG_HEADER)
    set(ARG_HEADER base/embedded_file.h)
    set(ARG_NAMESPACE tma_jit)
  endif()
  add_custom_command(
    OUTPUT ${ARG_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${ARG_OUTPUT} -DSYMBOL=${ARG_SYMBOL} -DBASE=${ARG_BASE} -DPACKED=${ARG_PACKED}
            -DHEADER=${ARG_HEADER} -DNAMESPACE=${ARG_NAMESPACE}
            "-DFILES=${ARG_FILES}" -P ${TMA_JIT_EMBED_SCRIPT}
    DEPENDS ${ARG_FILES} ${TMA_JIT_EMBED_SCRIPT}
    COMMENT "Embedding ${ARG_SYMBOL}" VERBATIM)
endfunction()
