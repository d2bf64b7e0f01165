# For programs that link the static library: copies the compile worker next to a program, where the library looks for
# it.
#
#   tma_jit_copy_compile_worker(TARGET)
#
# An installed program needs it too: install(PROGRAMS $<TARGET_FILE:tma_jit::tma-jit-cc> TYPE BIN).
function(tma_jit_copy_compile_worker TARGET)
  add_custom_command(TARGET ${TARGET} POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy_if_different
    $<TARGET_FILE:tma_jit::tma-jit-cc> $<TARGET_FILE_DIR:${TARGET}> VERBATIM)
endfunction()
