/* Preparing in the background through the C API, on the emulator. Ends with 77 where there is none. */
#include <unistd.h>

#include "check.h"

#define COUNT 3

static tma_jit_error* error = NULL;
static size_t told = 0;

static void tell(size_t done, size_t total, void* user) {
  CHECK(total == COUNT);
  CHECK(done == told + 1);
  told = done;
  CHECK(user == &told);
}

static tma_jit_request* scaling(const char* hook) {
  tma_jit_request* request = NULL;
  REQUIRE_OK(tma_jit_request_create("map", &request, &error));
  REQUIRE_OK(tma_jit_request_dim(request, "N", 4096, &error));
  REQUIRE_OK(tma_jit_request_hook(request, "apply", hook, &error));
  return request;
}

static void check_results(tma_jit_engine* engine, const tma_jit_request* const* requests) {
  tma_jit_prepare_options options;
  tma_jit_preparation* preparation = NULL;
  tma_jit_launch* launch = NULL;
  int32_t finished = 0;
  size_t i = 0;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.progress = tell;
  options.progress_user = &told;
  options.threads = 2;
  REQUIRE_OK(tma_jit_prepare_async(engine, requests, COUNT, &options, &preparation, &error));
  CHECK(tma_jit_preparation_total(preparation) == COUNT);
  REQUIRE_OK(tma_jit_preparation_wait(preparation, TMA_JIT_NONE, &finished, &error));
  CHECK(finished == 1 && told == COUNT && tma_jit_preparation_done(preparation) == COUNT);
  for (i = 0; i + 1 < COUNT; ++i) {
    REQUIRE_OK(tma_jit_preparation_take(preparation, i, &launch, &error));
    CHECK(strcmp(tma_jit_plan_kernel(tma_jit_launch_plan(launch)), "map") == 0);
    tma_jit_launch_free(launch);
  }
  CHECK_FAILS(tma_jit_preparation_take(preparation, COUNT - 1, &launch, &error), TMA_JIT_COMPILE, "no_such_name");
  CHECK(launch == NULL);
  CHECK_FAILS(tma_jit_preparation_take(preparation, 0, &launch, &error), TMA_JIT_NOT_FOUND, "taken before");
  CHECK_FAILS(tma_jit_preparation_take(preparation, COUNT, &launch, &error), TMA_JIT_NOT_FOUND, "3 were given");
  CHECK_FAILS(tma_jit_preparation_wait(preparation, -2, &finished, &error), TMA_JIT_INVALID_ARGUMENT, "limit_s");
  tma_jit_preparation_free(preparation);
}

static void check_refusals(tma_jit_engine* engine, const tma_jit_request* const* requests) {
  const tma_jit_request* const holes[] = {requests[0], NULL};
  tma_jit_prepare_options options;
  tma_jit_preparation* preparation = NULL;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.threads = -1;
  CHECK_FAILS(tma_jit_prepare_async(engine, requests, 1, &options, &preparation, &error), TMA_JIT_INVALID_ARGUMENT,
              "threads is -1");
  CHECK_FAILS(tma_jit_prepare_async(engine, holes, 2, NULL, &preparation, &error), TMA_JIT_INVALID_ARGUMENT,
              "requests[1] is NULL");
  CHECK_NULL_REFUSED(tma_jit_prepare_async(engine, NULL, 1, NULL, &preparation, &error), "requests");
  CHECK_NULL_REFUSED(tma_jit_prepare_async(NULL, requests, 1, NULL, &preparation, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_preparation_cancel(NULL, &error), "preparation");
  CHECK_NULL_REFUSED(tma_jit_preparation_wait(NULL, 0, NULL, &error), "preparation");
  CHECK(preparation == NULL && tma_jit_preparation_total(NULL) == 0 && tma_jit_preparation_done(NULL) == 0);
  tma_jit_preparation_free(NULL);
}

/* Lines of a file; none of one that is not there. */
static int lines_of(const char* path) {
  FILE* file = fopen(path, "r");
  int lines = 0, letter = 0;
  if (file == NULL) return 0;
  while ((letter = fgetc(file)) != EOF) lines += letter == '\n';
  fclose(file);
  return lines;
}

int main(void) {
  char folder[] = "/tmp/tma_jit_c_api_XXXXXX";
  char record[64];
  tma_jit_options options;
  tma_jit_device_info device;
  tma_jit_engine* engine = NULL;
  tma_jit_preparation* preparation = NULL;
  tma_jit_launch* launch = NULL;
  tma_jit_request* requests[COUNT];
  tma_jit_status status = TMA_JIT_OK;
  size_t i = 0;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.device = "emulator:sm_90a";
  options.no_cache = 1;
  if (mkdtemp(folder) == NULL) return 1;
  snprintf(record, sizeof record, "%s/asked", folder);
  options.record_requests = record;
  REQUIRE_OK(tma_jit_engine_create(&options, &engine, &error));
  device.size = sizeof device;
  if (tma_jit_engine_device(engine, &device, &error) != TMA_JIT_OK) {
    printf("skipped: %s\n", tma_jit_error_text(error));
    tma_jit_error_free(error);
    tma_jit_engine_free(engine);
    rmdir(folder);
    return SKIPPED;
  }
  CHECK(lines_of(record) == 0);
  requests[0] = scaling("a * 2.0f");
  requests[1] = scaling("a * 3.0f");
  requests[2] = scaling("no_such_name");
  check_refusals(engine, (const tma_jit_request* const*)requests);
  check_results(engine, (const tma_jit_request* const*)requests);
  CHECK(lines_of(record) == COUNT - 1); /* the last does not compile */
  /* The engine's end is the preparation's, which is of use until it is freed. */
  REQUIRE_OK(tma_jit_prepare_async(engine, (const tma_jit_request* const*)requests, COUNT, NULL, &preparation, &error));
  REQUIRE_OK(tma_jit_preparation_cancel(preparation, &error));
  tma_jit_engine_free(engine);
  CHECK(tma_jit_preparation_done(preparation) == COUNT);
  status = tma_jit_preparation_take(preparation, 1, &launch, &error);
  CHECK(status == TMA_JIT_OK || status == TMA_JIT_CANCELLED);
  tma_jit_launch_free(launch);
  tma_jit_error_free(error);
  tma_jit_preparation_free(preparation);
  for (i = 0; i < COUNT; ++i) tma_jit_request_free(requests[i]);
  remove(record);
  rmdir(folder);
  return finished("C API: preparing in the background");
}
