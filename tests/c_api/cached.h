/* A temporary folder and engines that keep kernels in it, for the C API's tests. */
#ifndef TMA_JIT_TESTS_C_API_CACHED_H
#define TMA_JIT_TESTS_C_API_CACHED_H

#include "check.h"

static tma_jit_error* error = NULL;
static char folder[] = "/tmp/tma_jit_c_api_XXXXXX";
static char names[8][512];

/* "<folder>/name"; each `slot` holds one at a time. */
static inline const char* in_folder(int slot, const char* name) {
  snprintf(names[slot], sizeof names[slot], "%s/%s", folder, name);
  return names[slot];
}

static inline tma_jit_options cached(const char* root) {
  tma_jit_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.device = "h100";
  options.cache_dir = root;
  return options;
}

static inline tma_jit_engine* engine_of(const tma_jit_options* options) {
  tma_jit_engine* engine = NULL;
  REQUIRE_OK(tma_jit_engine_create(options, &engine, &error));
  return engine;
}

static inline tma_jit_plan* plan_copy(tma_jit_engine* engine, int64_t unroll) {
  tma_jit_request* request = NULL;
  tma_jit_plan* plan = NULL;
  REQUIRE_OK(tma_jit_request_create("copy", &request, &error));
  REQUIRE_OK(tma_jit_request_dim(request, "N", 4096, &error));
  REQUIRE_OK(tma_jit_request_param(request, "UNROLL", unroll, &error));
  REQUIRE_OK(tma_jit_plan_create(engine, request, &plan, &error));
  tma_jit_request_free(request);
  return plan;
}

static inline tma_jit_status build(tma_jit_engine* engine, const tma_jit_plan* plan) {
  tma_jit_artifact* cubin = NULL;
  const tma_jit_status status = tma_jit_build(engine, plan, &cubin, &error);
  tma_jit_artifact_free(cubin);
  return status;
}

static inline tma_jit_stats stats_of(tma_jit_engine* engine) {
  tma_jit_stats stats;
  stats.size = sizeof stats;
  REQUIRE_OK(tma_jit_engine_stats(engine, &stats, &error));
  return stats;
}

/* Says so and is false where there is no NVRTC. */
static inline int was_built(tma_jit_status status) {
  if (status == TMA_JIT_OK) return 1;
  CHECK(status == TMA_JIT_NVRTC);
  printf("skipped from here on: %s\n", tma_jit_error_text(error));
  tma_jit_error_free(error);
  error = NULL;
  return 0;
}

/* Removes the folder and prints what failed; the result is the program's. */
static inline int finished_in_folder(const char* what) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK(system(command) == 0);
  return finished(what);
}

#endif
