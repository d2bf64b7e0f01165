/* Chains through the C API, on the emulator. Ends with 77 where there is none. */
#include "check.h"

#define COUNT 100

static tma_jit_error* error = NULL;

static tma_jit_tensor vector_of(const tma_jit_buffer* buffer, int64_t count) {
  tma_jit_tensor tensor;
  REQUIRE_OK(tma_jit_tensor_row_major(tma_jit_buffer_address(buffer), TMA_JIT_F32, 1, &count, &tensor, &error));
  return tensor;
}

/* Y = 2 * A + 1. */
static tma_jit_request* stage_of(const tma_jit_buffer* a, int64_t count, const tma_jit_buffer* y) {
  const tma_jit_tensor from = vector_of(a, count), to = vector_of(y, count);
  tma_jit_request* request = NULL;
  REQUIRE_OK(tma_jit_request_create("map", &request, &error));
  REQUIRE_OK(tma_jit_request_tensor(request, "A", &from, &error));
  REQUIRE_OK(tma_jit_request_tensor(request, "Y", &to, &error));
  REQUIRE_OK(tma_jit_request_hook(request, "apply", "2 * a + 1", &error));
  return request;
}

static void check_results(tma_jit_engine* engine, const tma_jit_request* const* stages, const tma_jit_buffer* last) {
  tma_jit_chain* chain = NULL;
  tma_jit_geometry geometry;
  float results[COUNT];
  size_t i = 0;
  REQUIRE_OK(tma_jit_chain_create(engine, stages, 2, &chain, &error));
  CHECK(tma_jit_chain_size(chain) == 2 && tma_jit_chain_plan(chain, 2) == NULL);
  memset(&geometry, 0, sizeof geometry);
  geometry.size = sizeof geometry;
  REQUIRE_OK(tma_jit_plan_geometry(tma_jit_chain_plan(chain, 0), &geometry, &error));
  CHECK(geometry.programmatic == 0);
  REQUIRE_OK(tma_jit_chain_run(chain, NULL, &error));
  REQUIRE_OK(tma_jit_synchronize(engine, &error));
  REQUIRE_OK(tma_jit_buffer_download(last, results, sizeof results, 0, &error));
  for (i = 0; i < COUNT; ++i) CHECK(results[i] == 4 * (float)i + 3);
  tma_jit_chain_free(chain);
}

static void check_refusals(tma_jit_engine* engine, const tma_jit_request* const* stages) {
  const tma_jit_request* const holes[] = {stages[0], NULL};
  const tma_jit_request* const beyond[] = {stages[0], stages[2]};
  tma_jit_chain* chain = NULL;
  CHECK_FAILS(tma_jit_chain_create(engine, beyond, 2, &chain, &error), TMA_JIT_INVALID_ARGUMENT,
              "stage 2 of 2 (map): it reads A f32[200] where stage 1 (map) writes Y f32[100]");
  CHECK_FAILS(tma_jit_chain_create(engine, stages, 0, &chain, &error), TMA_JIT_INVALID_ARGUMENT, "no stages");
  CHECK_FAILS(tma_jit_chain_create(engine, holes, 2, &chain, &error), TMA_JIT_INVALID_ARGUMENT, "requests[1] is NULL");
  CHECK_NULL_REFUSED(tma_jit_chain_create(NULL, stages, 2, &chain, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_chain_run(NULL, NULL, &error), "chain");
  CHECK(chain == NULL && tma_jit_chain_size(NULL) == 0 && tma_jit_chain_plan(NULL, 0) == NULL);
  tma_jit_chain_free(NULL);
}

int main(void) {
  tma_jit_options options;
  tma_jit_device_info device;
  tma_jit_engine* engine = NULL;
  tma_jit_buffer* buffers[3];
  tma_jit_request* stages[3];
  float values[COUNT];
  size_t i = 0;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.device = "emulator:sm_90a";
  options.no_cache = 1;
  REQUIRE_OK(tma_jit_engine_create(&options, &engine, &error));
  device.size = sizeof device;
  if (tma_jit_engine_device(engine, &device, &error) != TMA_JIT_OK) {
    printf("skipped: %s\n", tma_jit_error_text(error));
    tma_jit_error_free(error);
    tma_jit_engine_free(engine);
    return SKIPPED;
  }
  for (i = 0; i < COUNT; ++i) values[i] = (float)i;
  for (i = 0; i < 3; ++i) REQUIRE_OK(tma_jit_buffer_create(engine, 2 * sizeof values, &buffers[i], &error));
  REQUIRE_OK(tma_jit_buffer_upload(buffers[0], values, sizeof values, 0, &error));
  stages[0] = stage_of(buffers[0], COUNT, buffers[1]);
  stages[1] = stage_of(buffers[1], COUNT, buffers[2]);
  stages[2] = stage_of(buffers[1], 2 * COUNT, buffers[2]);
  check_results(engine, (const tma_jit_request* const*)stages, buffers[2]);
  check_refusals(engine, (const tma_jit_request* const*)stages);
  for (i = 0; i < 3; ++i) {
    tma_jit_request_free(stages[i]);
    tma_jit_buffer_free(buffers[i]);
  }
  tma_jit_engine_free(engine);
  return finished("C API: chains");
}
