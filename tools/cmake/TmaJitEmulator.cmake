# For programs that link the static library: copies the emulator next to a program, where the library looks for it.
#
#   tma_jit_copy_emulator(TARGET)
#
# An installed program needs it too: install(PROGRAMS $<TARGET_FILE:tma_jit::emulator> TYPE BIN).
function(tma_jit_copy_emulator TARGET)
  add_custom_command(TARGET ${TARGET} POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy_if_different
    $<TARGET_FILE:tma_jit::emulator> $<TARGET_FILE_DIR:${TARGET}> VERBATIM)
endfunction()
