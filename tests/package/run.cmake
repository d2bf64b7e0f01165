# Installs the library, or builds one consumer of it and runs it.
#
#   cmake -DCASE=install  -DBUILD=folder -DWORK=folder -P run.cmake
#   cmake -DCASE=consumer -DBUILD=folder -DWORK=folder -DNAME=folder of consumers/ [-DLIBRARY=shared] [-DSOURCE=tree] -DEXPECT=regex -P run.cmake
#
# Also CXX and LAUNCHER, the compiler and what to start it through.
set(prefix ${WORK}/prefix)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nfailed with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

if(CASE STREQUAL "install")
  file(REMOVE_RECURSE ${prefix})
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
  file(GLOB_RECURSE installed RELATIVE ${prefix} ${prefix}/*)
  list(JOIN installed "\n  " installed)
  message(STATUS "installed\n  ${installed}")
  return()
endif()

file(GLOB pkg_config_folder ${prefix}/lib*/pkgconfig ${prefix}/lib/*/pkgconfig)
set(ENV{PKG_CONFIG_PATH} "${pkg_config_folder}")
set(folder ${WORK}/${NAME}_${LIBRARY})
set(flags -DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_FLAGS=-O0 -Wall -Wextra -Werror" "-DCMAKE_C_FLAGS=-O0 -Wall -Wextra -Werror")
if(NAME STREQUAL "subdirectory")
  set(flags -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0)  # the whole library, without precompiled headers
endif()
file(REMOVE_RECURSE ${folder})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumers/${NAME} -B ${folder} -G Ninja
  ${flags} -DCMAKE_CXX_STANDARD=20 -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
  -DCMAKE_PREFIX_PATH=${prefix} -DLIBRARY=${LIBRARY} -DTMA_JIT_SOURCE_DIR=${SOURCE})
if(NAME STREQUAL "subdirectory" AND NOT "$ENV{TMA_JIT_TEST_COMBINATIONS}" STREQUAL "all")
  # The whole library once more takes minutes: `tools/dev test --full` compiles it, and otherwise its plan is enough.
  run(${CMAKE_COMMAND} --build ${folder} -- -t commands consumer)
  if(NOT output MATCHES "-o tma_jit/bin/tma-jit-cc " OR NOT output MATCHES "-o consumer ")
    message(FATAL_ERROR "the consumer, or the compile worker with it, would not be linked:\n${output}")
  endif()
  return()
endif()
run(${CMAKE_COMMAND} --build ${folder})
run(${folder}/consumer)
if(NOT output MATCHES "${EXPECT}")
  message(FATAL_ERROR "the consumer printed\n${output}which does not match ${EXPECT}")
endif()
message(STATUS "${NAME} ${LIBRARY} printed\n${output}")
