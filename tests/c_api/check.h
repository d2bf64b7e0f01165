/* Checks for the C API's tests, in C: a failed one is printed and counted, and the program ends with 1. */
#ifndef TMA_JIT_TESTS_C_API_CHECK_H
#define TMA_JIT_TESTS_C_API_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tma_jit/c.h>

#define SKIPPED 77

static int failures = 0;

static inline void check(int passed, const char* what, const char* file, int line) {
  if (passed) return;
  ++failures;
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
}
#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)

/* Ends the program: what follows could not run. */
static inline void require(tma_jit_status status, tma_jit_error* error, const char* what, int line) {
  if (status == TMA_JIT_OK && error == NULL) return;
  fprintf(stderr, "line %d: %s: %s\n", line, what, tma_jit_error_text(error));
  exit(1);
}
#define REQUIRE_OK(call) require((call), error, #call, __LINE__)

/* The call fails with this status, and its error has it too and says `words` somewhere. */
static inline void check_failure(tma_jit_status got, tma_jit_status expected, tma_jit_error* error, const char* words,
                                 int line) {
  const char* text = tma_jit_error_text(error);
  if (got != expected || tma_jit_error_code(error) != expected || strstr(text, words) == NULL) {
    ++failures;
    fprintf(stderr, "line %d: expected %s with \"%s\", got %s: %s\n", line, tma_jit_status_name(expected), words,
            tma_jit_status_name(got), text);
  }
  tma_jit_error_free(error);
}
#define CHECK_FAILS(call, status, words)                     \
  do {                                                       \
    tma_jit_status got_ = (call);                            \
    check_failure(got_, (status), error, (words), __LINE__); \
    error = NULL;                                            \
  } while (0)
#define CHECK_NULL_REFUSED(call, name) CHECK_FAILS(call, TMA_JIT_INVALID_ARGUMENT, ": " name " is NULL")

static inline int has(const char* text, const char* words) {
  return text != NULL && strstr(text, words) != NULL;
}

static inline int finished(const char* what) {
  printf("%s: %d failures\n", what, failures);
  return failures == 0 ? 0 : 1;
}

#endif
