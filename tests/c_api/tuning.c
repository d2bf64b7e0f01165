/* Tuning through the C API, on the emulator. Ends with 77 where there is none. */
#include <tma_jit/c_tuning.h>

#include <unistd.h>

#include "check.h"

static tma_jit_error* error = NULL;
static char records[] = "/tmp/tma-jit-c-tuning-XXXXXX";

static int32_t go_on(const tma_jit_tune_progress* progress, void* user) {
  size_t* calls = (size_t*)user;
  CHECK(progress->size == sizeof *progress && progress->requests == 2 && progress->trial <= progress->trials);
  ++*calls;
  return 1;
}

static int32_t stop(const tma_jit_tune_progress* progress, void* user) {
  (void)progress;
  (void)user;
  return 0;
}

static tma_jit_request* mapping(const char* kernel, int64_t n) {
  tma_jit_request* request = NULL;
  REQUIRE_OK(tma_jit_request_create(kernel, &request, &error));
  REQUIRE_OK(tma_jit_request_dim(request, "N", n, &error));
  REQUIRE_OK(tma_jit_request_hook(request, "apply", "a * 2.0f", &error));
  return request;
}

static tma_jit_tune_options few_candidates(void) {
  tma_jit_tune_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.candidates = 2;
  options.records = records;
  return options;
}

static void check_results(tma_jit_engine* engine, const tma_jit_request* const* requests) {
  tma_jit_tune_options options = few_candidates();
  tma_jit_tuning* tuning = NULL;
  tma_jit_tune_result result;
  size_t calls = 0;
  char* json = NULL;
  options.progress = go_on;
  options.progress_user = &calls;
  REQUIRE_OK(tma_jit_tune(engine, requests, 2, &options, &tuning, &error));
  CHECK(calls > 0 && tma_jit_tuning_count(tuning) == 2);
  memset(&result, 0, sizeof result);
  result.size = sizeof result;
  REQUIRE_OK(tma_jit_tuning_result(tuning, 0, &result, &error));
  CHECK(result.us > 0 && result.preset_us > 0 && result.trials > 1 && result.known == 0);
  CHECK_FAILS(tma_jit_tuning_result(tuning, 1, &result, &error), TMA_JIT_NOT_FOUND, "no_such_kernel");
  CHECK_FAILS(tma_jit_tuning_result(tuning, 2, &result, &error), TMA_JIT_NOT_FOUND, "there are 2");
  REQUIRE_OK(tma_jit_tuning_json(tuning, 0, &json, &error));
  CHECK(strstr(json, "\"record\":{\"kernel\":\"map\"") != NULL && strstr(json, "\"trials\":[{") != NULL);
  tma_jit_string_free(json);
  REQUIRE_OK(tma_jit_tuning_json(tuning, 1, &json, &error));
  CHECK(strstr(json, "\"error\"") != NULL);
  tma_jit_string_free(json);
  tma_jit_tuning_free(tuning);

  /* The second time the record is there. */
  REQUIRE_OK(tma_jit_tune(engine, requests, 1, &options, &tuning, &error));
  REQUIRE_OK(tma_jit_tuning_result(tuning, 0, &result, &error));
  CHECK(result.known == 1 && result.trials == 0 && result.us > 0);
  tma_jit_tuning_free(tuning);

  options.progress = stop;
  options.again = 1;
  REQUIRE_OK(tma_jit_tune(engine, requests, 2, &options, &tuning, &error));
  CHECK(tma_jit_tuning_count(tuning) == 1);
  tma_jit_tuning_free(tuning);
}

/* A store of one line. */
typedef struct Board {
  char problem[64];
  char line[4096];
  int published;
} Board;

static int32_t publish(const char* problem, const char* line, void* user) {
  Board* shared = (Board*)user;
  CHECK(strlen(problem) == 16 && strlen(line) < sizeof shared->line);
  strcpy(shared->problem, problem);
  strcpy(shared->line, line);
  return ++shared->published < 3 ? 0 : 7;
}

static int32_t fetch(const char* problem, double wait_s, char* line, size_t bytes, void* user) {
  const Board* shared = (const Board*)user;
  CHECK(wait_s > 0 && bytes > sizeof shared->line);
  if (strcmp(problem, shared->problem) != 0) return 0;
  strcpy(line, shared->line);
  return 1;
}

static int32_t fetch_nothing(const char* problem, double wait_s, char* line, size_t bytes, void* user) {
  (void)problem, (void)wait_s, (void)line, (void)bytes;
  return *(const int32_t*)user;
}

static tma_jit_tune_result exchanged(tma_jit_engine* engine, const tma_jit_request* const* requests,
                                     const tma_jit_tune_options* options) {
  tma_jit_tuning* tuning = NULL;
  tma_jit_tune_result result;
  memset(&result, 0, sizeof result);
  result.size = sizeof result;
  REQUIRE_OK(tma_jit_tune(engine, requests, 1, options, &tuning, &error));
  REQUIRE_OK(tma_jit_tuning_result(tuning, 0, &result, &error));
  tma_jit_tuning_free(tuning);
  return result;
}

static int32_t no_work(double us, void* user) {
  CHECK(us > 0);
  return *(const int32_t*)user;
}

/* The emulator has no graphs. */
static void check_conditions(tma_jit_engine* engine, const tma_jit_request* const* requests) {
  tma_jit_tune_options options = few_candidates();
  tma_jit_tune_result result;
  tma_jit_tuning* tuning = NULL;
  int32_t status = 0;
  options.again = 1;
  options.beside = no_work;
  options.beside_user = &status;
  CHECK(exchanged(engine, requests, &options).us > 0);
  status = 3;
  REQUIRE_OK(tma_jit_tune(engine, requests, 1, &options, &tuning, &error));
  CHECK_FAILS(tma_jit_tuning_result(tuning, 0, &result, &error), TMA_JIT_IO, "beside returned 3");
  tma_jit_tuning_free(tuning);
  options.beside = NULL;
  options.replay = 1;
  REQUIRE_OK(tma_jit_tune(engine, requests, 1, &options, &tuning, &error));
  CHECK_FAILS(tma_jit_tuning_result(tuning, 0, &result, &error), TMA_JIT_UNSUPPORTED, "has no graphs");
  tma_jit_tuning_free(tuning);
}

static void check_exchange(tma_jit_engine* engine, const tma_jit_request* const* requests) {
  Board shared;
  tma_jit_tune_options options = few_candidates();
  tma_jit_tune_result result;
  tma_jit_tuning* tuning = NULL;
  int32_t status = 0;
  memset(&shared, 0, sizeof shared);
  options.exchange_user = &shared;
  options.publish = publish;
  result = exchanged(engine, requests, &options); /* from the file, and published */
  CHECK(result.known == 1 && shared.published == 1 && strstr(shared.line, "\"kernel\":\"map\"") != NULL);

  options.publish = NULL;
  options.fetch = fetch;
  CHECK(exchanged(engine, requests, &options).us == result.us);

  options.fetch = fetch_nothing;
  options.exchange_user = &status;
  REQUIRE_OK(tma_jit_tune(engine, requests, 1, &options, &tuning, &error));
  CHECK_FAILS(tma_jit_tuning_result(tuning, 0, &result, &error), TMA_JIT_NOT_FOUND, "in time");
  tma_jit_tuning_free(tuning);
  status = -5;
  REQUIRE_OK(tma_jit_tune(engine, requests, 1, &options, &tuning, &error));
  CHECK_FAILS(tma_jit_tuning_result(tuning, 0, &result, &error), TMA_JIT_IO, "returned -5");
  tma_jit_tuning_free(tuning);

  options.fetch = NULL;
  options.publish = publish;
  options.exchange_user = &shared;
  shared.published = 2;
  REQUIRE_OK(tma_jit_tune(engine, requests, 1, &options, &tuning, &error));
  CHECK_FAILS(tma_jit_tuning_result(tuning, 0, &result, &error), TMA_JIT_IO, "returned 7");
  tma_jit_tuning_free(tuning);
}

static void check_files(tma_jit_engine* engine) {
  size_t skipped = 7;
  char* file = NULL;
  REQUIRE_OK(tma_jit_tuning_merge(records, records, &skipped, &error));
  CHECK(skipped == 0);
  CHECK_FAILS(tma_jit_tuning_merge("/", records, NULL, &error), TMA_JIT_IO, "/");
  CHECK_NULL_REFUSED(tma_jit_tuning_merge(NULL, records, NULL, &error), "from");
  REQUIRE_OK(tma_jit_tuning_file(engine, &file, &error));
  CHECK(file != NULL);
  tma_jit_string_free(file);
}

static void check_refusals(tma_jit_engine* engine, const tma_jit_request* const* requests) {
  const tma_jit_request* const holes[] = {requests[0], NULL};
  tma_jit_tune_options options = few_candidates();
  tma_jit_tuning* tuning = NULL;
  options.budget_s = -3;
  CHECK_FAILS(tma_jit_tune(engine, requests, 1, &options, &tuning, &error), TMA_JIT_INVALID_ARGUMENT, "budget_s");
  options.budget_s = 0;
  options.least_gain = -3;
  CHECK_FAILS(tma_jit_tune(engine, requests, 1, &options, &tuning, &error), TMA_JIT_INVALID_ARGUMENT, "least_gain");
  CHECK_FAILS(tma_jit_tune(engine, holes, 2, NULL, &tuning, &error), TMA_JIT_INVALID_ARGUMENT, "requests[1] is NULL");
  CHECK_NULL_REFUSED(tma_jit_tune(engine, NULL, 1, NULL, &tuning, &error), "requests");
  CHECK_NULL_REFUSED(tma_jit_tune(NULL, requests, 1, NULL, &tuning, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_tune(engine, requests, 1, NULL, NULL, &error), "out");
  CHECK_NULL_REFUSED(tma_jit_tuning_result(NULL, 0, NULL, &error), "tuning");
  CHECK(tuning == NULL && tma_jit_tuning_count(NULL) == 0);
  tma_jit_tuning_free(NULL);
}

static int32_t never(void* user) {
  ++*(int*)user;
  return 0;
}

static void check_policies(void) {
  tma_jit_options options;
  tma_jit_engine* engine = NULL;
  tma_jit_stats stats;
  int asked = 0;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.device = "h100";
  options.may_measure = never;
  options.may_measure_user = &asked;
  for (tma_jit_tuning_policy policy = TMA_JIT_TUNING_DEFAULT; policy <= TMA_JIT_TUNING_BACKGROUND; ++policy) {
    options.tuning_policy = policy;
    options.tuning_budget_s = policy == TMA_JIT_TUNING_OFF ? TMA_JIT_NONE : 2;
    options.tuning_device_share = 0.5;
    REQUIRE_OK(tma_jit_engine_create(&options, &engine, &error));
    memset(&stats, 0, sizeof stats);
    stats.size = sizeof stats;
    REQUIRE_OK(tma_jit_engine_stats(engine, &stats, &error));
    CHECK(stats.problems_tuned == 0 && stats.launches_swapped == 0 && stats.tuning_failures == 0);
    tma_jit_engine_free(engine);
  }
  CHECK(asked == 0);
  options.tuning_device_share = -1;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "tuning_device_share");
  options.tuning_policy = 5;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "tuning_policy");
}

int main(void) {
  tma_jit_options options;
  tma_jit_device_info device;
  tma_jit_engine* engine = NULL;
  tma_jit_request* requests[2];
  const char* const record_files[] = {records};
  const int descriptor = mkstemp(records);
  CHECK(descriptor >= 0);
  check_policies();
  close(descriptor);
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.device = "emulator:sm_90a";
  options.no_cache = 1;
  options.tuning_records = record_files;
  options.tuning_record_count = 1;
  REQUIRE_OK(tma_jit_engine_create(&options, &engine, &error));
  memset(&device, 0, sizeof device);
  device.size = sizeof device;
  if (tma_jit_engine_device(engine, &device, &error) != TMA_JIT_OK) {
    printf("skipped: %s\n", tma_jit_error_text(error));
    tma_jit_error_free(error);
    tma_jit_engine_free(engine);
    unlink(records);
    return SKIPPED;
  }
  requests[0] = mapping("map", 4096);
  requests[1] = mapping("no_such_kernel", 4096);
  check_refusals(engine, (const tma_jit_request* const*)requests);
  check_results(engine, (const tma_jit_request* const*)requests);
  check_conditions(engine, (const tma_jit_request* const*)requests);
  check_exchange(engine, (const tma_jit_request* const*)requests);
  check_files(engine);
  tma_jit_request_free(requests[0]);
  tma_jit_request_free(requests[1]);
  tma_jit_engine_free(engine);
  unlink(records);
  return finished("C API: tuning");
}
