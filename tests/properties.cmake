# Properties of the tests of the current folder whose names match.
#
#   tma_jit_tests(REGEX LABELS [APPEND])
#
# LABELS replace those that a test has, or with APPEND join them. The test also gets the cache folder of all tests, unless it
# names one of its own: tests share what is compiled, and leave the user's cache alone.
function(tma_jit_tests regex labels)
  get_property(tests DIRECTORY PROPERTY TESTS)
  list(FILTER tests INCLUDE REGEX "${regex}")
  foreach(test IN LISTS tests)
    set_property(TEST ${test} ${ARGN} PROPERTY LABELS ${labels})
    get_property(environment TEST ${test} PROPERTY ENVIRONMENT)
    if(NOT environment MATCHES "TMA_JIT_CACHE_DIR=")
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT TMA_JIT_CACHE_DIR=${TMA_JIT_TEST_CACHE})
    endif()
  endforeach()
endfunction()
