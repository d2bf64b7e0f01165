# Writes OUTPUT, a header with the commit of SOURCE, if its text has changed. Run by every build.
cmake_minimum_required(VERSION 3.22)
set(commit "")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude *
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// Written by tools/cmake/WriteCommit.cmake.\n#pragma once\n\ninline constexpr char kCommit[] = \"@commit@\";\n" @ONLY)
