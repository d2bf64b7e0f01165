/* The C API as far as it goes without a GPU: every stage from a request to a cubin. Where there is
   no NVRTC the last stages are skipped, and the program says so. */
#include <pthread.h>
#include <unistd.h>

#include "scale.h"

static void check_estimate(const tma_jit_plan* plan) {
  tma_jit_device_info device;
  char* json = NULL;
  memset(&device, 0, sizeof device);
  device.size = sizeof device;
  CHECK_NULL_REFUSED(tma_jit_plan_estimate_json(plan, NULL, &json, &error), "device");
  CHECK_FAILS(tma_jit_plan_estimate_json(plan, &device, &json, &error), TMA_JIT_INVALID_ARGUMENT, "is not known");
  REQUIRE_OK(tma_jit_device_named("b200", &device, &error));
  REQUIRE_OK(tma_jit_plan_estimate_json(plan, &device, &json, &error));
  CHECK(has(json, "{\"time_us\":") && has(json, "\"bound\":\"latency\"") && has(json, "\"described\":true"));
  tma_jit_string_free(json);
}

/* What a plan says of the memory it needs beside its tensors. */
static void workspaces(tma_jit_engine* engine) {
  static const char* const kParts =
      "//! kernel parts_c\n//! arch sm_90a\n//! dim N\n//! workspace parts N * 4\n//! workspace counter 8 zero\n"
      "//! launch grid 1 block 32\n"
      "extern \"C\" __global__ void parts_c(unsigned char* parts, unsigned char* counter, const Dims dims) {}\n";
  tma_jit_request* request = NULL;
  tma_jit_plan* plan = NULL;
  tma_jit_workspace workspace;
  workspace.size = sizeof workspace;
  REQUIRE_OK(tma_jit_engine_add_template(engine, "parts_c.cu", kParts, &error));
  request = make_request("parts_c", 100);
  REQUIRE_OK(tma_jit_request_workspace(request, "parts", 4096, &error));
  REQUIRE_OK(tma_jit_plan_create(engine, request, &plan, &error));
  CHECK(tma_jit_plan_workspace_count(plan) == 2);
  REQUIRE_OK(tma_jit_plan_workspace(plan, 0, &workspace, &error));
  CHECK(strcmp(workspace.name, "parts") == 0 && workspace.bytes == 400 && workspace.alignment == 16);
  CHECK(workspace.given == 1 && workspace.zeroed == 0);
  REQUIRE_OK(tma_jit_plan_workspace(plan, 1, &workspace, &error));
  CHECK(strcmp(workspace.name, "counter") == 0 && workspace.bytes == 8 && workspace.given == 0 &&
        workspace.zeroed == 1);
  CHECK_FAILS(tma_jit_plan_workspace(plan, 2, &workspace, &error), TMA_JIT_NOT_FOUND, "2 workspaces");
  tma_jit_plan_free(plan);
  tma_jit_request_free(request);
}

static void planning(tma_jit_engine* engine) {
  tma_jit_request* request = make_request("scale_c", 1000);
  tma_jit_plan* plan = NULL;
  tma_jit_geometry geometry;
  int64_t threads = 0;
  double flops = 0;
  double bytes = 0;
  char* json = NULL;
  REQUIRE_OK(tma_jit_request_param(request, "THREADS", 64, &error));
  REQUIRE_OK(tma_jit_request_type(request, "T", TMA_JIT_BF16, &error));
  REQUIRE_OK(tma_jit_request_scalar_real(request, "alpha", 0.5, &error));
  REQUIRE_OK(tma_jit_request_hook(request, "apply", "a + 1.0f", &error));
  REQUIRE_OK(tma_jit_request_operand(request, "beta : f32", &error));
  REQUIRE_OK(tma_jit_request_operand(request, "beta : f32 = 0.25", &error));
  REQUIRE_OK(tma_jit_request_operand(request, "bias : T[N]", &error));
  REQUIRE_OK(tma_jit_request_fix_dim(request, "N", &error));
  REQUIRE_OK(tma_jit_request_fix_dim(request, "N", &error));
  REQUIRE_OK(tma_jit_request_file(request, "scale_c", &error));
  REQUIRE_OK(tma_jit_request_file(request, NULL, &error));
  REQUIRE_OK(tma_jit_plan_create(engine, request, &plan, &error));
  CHECK(strcmp(tma_jit_plan_kernel(plan), "scale_c") == 0 && strcmp(tma_jit_plan_entry(plan), "scale_c") == 0);
  CHECK(strcmp(tma_jit_plan_file(plan), "scale_c.cu") == 0 && strcmp(tma_jit_plan_arch(plan), "sm_90a") == 0);
  geometry.size = sizeof geometry;
  REQUIRE_OK(tma_jit_plan_geometry(plan, &geometry, &error));
  CHECK(geometry.grid[0] == 16 && geometry.block[0] == 64 && geometry.cluster[0] == 1 && geometry.programmatic == 0);
  REQUIRE_OK(tma_jit_plan_param(plan, "THREADS", &threads, &error));
  CHECK(threads == 64);
  CHECK_FAILS(tma_jit_plan_param(plan, "BLOCKS", &threads, &error), TMA_JIT_NOT_FOUND, "BLOCKS");
  REQUIRE_OK(tma_jit_plan_work(plan, &flops, &bytes, &error));
  CHECK(flops == 1000 && bytes == 4000);
  REQUIRE_OK(tma_jit_plan_json(plan, &json, &error));
  CHECK(has(json, "\"kernel\":\"scale_c\"") && has(json, "\"apply\":\"a + 1.0f\"") && has(json, "\"fixed\":true"));
  CHECK(has(json, "\"operand\":\"bias : T[N]\"") && has(json, "\"operand\":\"beta : f32 = 0.25\""));
  tma_jit_string_free(json);
  check_estimate(plan);
  tma_jit_plan_free(plan);
  REQUIRE_OK(tma_jit_request_param(request, "THREADS", 77, &error));
  CHECK(tma_jit_plan_create(engine, request, &plan, NULL) != TMA_JIT_OK);
  CHECK(plan == NULL);
  tma_jit_request_free(request);
  request = make_request("scales_c", 1);
  CHECK_FAILS(tma_jit_plan_create(engine, request, &plan, &error), TMA_JIT_NOT_FOUND, "scale_c");
  tma_jit_request_free(request);
  CHECK_FAILS(tma_jit_engine_add_template(engine, "bad.cu", "//! kernel\n", &error), TMA_JIT_PARSE, "bad.cu:1");
}

/* A hook that is said to be untrusted is one expression, and is refused before it is compiled. */
static void untrusted_hooks(tma_jit_engine* engine) {
  const char* const texts[] = {"a + 1.0f", "a; } __device__ int x; float f() { return 0.0f", "__trap()"};
  size_t i = 0;
  for (; i < sizeof texts / sizeof *texts; ++i) {
    tma_jit_request* request = make_request("scale_c", 1000);
    tma_jit_plan* plan = NULL;
    tma_jit_source* source = NULL;
    REQUIRE_OK(tma_jit_request_hook(request, "apply", texts[i], &error));
    REQUIRE_OK(tma_jit_request_untrusted_hooks(request, 1, &error));
    REQUIRE_OK(tma_jit_plan_create(engine, request, &plan, &error));
    if (i == 0) {
      REQUIRE_OK(tma_jit_emit(engine, plan, &source, &error));
      tma_jit_source_free(source);
    } else {
      CHECK(tma_jit_emit(engine, plan, &source, &error) != TMA_JIT_OK);
      CHECK(source == NULL && has(tma_jit_error_text(error), "apply"));
      tma_jit_error_free(error);
      error = NULL;
    }
    tma_jit_plan_free(plan);
    if (i == 2) { /* what is trusted may do more */
      REQUIRE_OK(tma_jit_request_untrusted_hooks(request, 0, &error));
      REQUIRE_OK(tma_jit_plan_create(engine, request, &plan, &error));
      REQUIRE_OK(tma_jit_emit(engine, plan, &source, &error));
      tma_jit_source_free(source);
      tma_jit_plan_free(plan);
    }
    tma_jit_request_free(request);
  }
  CHECK_NULL_REFUSED(tma_jit_request_untrusted_hooks(NULL, 1, &error), "request");
}

/* A kernel within a budget has no more blocks than that. */
static void sm_budget(tma_jit_engine* engine) {
  tma_jit_request* request = make_request("scale_c", 100000);
  tma_jit_plan* plan = NULL;
  REQUIRE_OK(tma_jit_request_sm_budget(request, 1, &error));
  CHECK_FAILS(tma_jit_plan_create(engine, request, &plan, &error), TMA_JIT_NO_CONFIG, "for a budget of 1 SMs");
  REQUIRE_OK(tma_jit_request_sm_budget(request, 0, &error));
  REQUIRE_OK(tma_jit_plan_create(engine, request, &plan, &error));
  tma_jit_plan_free(plan);
  tma_jit_request_free(request);
  CHECK_NULL_REFUSED(tma_jit_request_sm_budget(NULL, 1, &error), "request");
}

static void missing_template(tma_jit_engine* engine, const char* folder) {
  char path[64];
  snprintf(path, sizeof path, "%s/a.cu", folder);
  CHECK_FAILS(tma_jit_engine_add_template_file(engine, path, &error), TMA_JIT_IO, path);
}

static void tensors_of_a_request(tma_jit_engine* engine) {
  const int64_t shape[] = {64};
  tma_jit_request* request = NULL;
  tma_jit_tensor tensor;
  tma_jit_plan* plan = NULL;
  char* json = NULL;
  REQUIRE_OK(tma_jit_request_create("scale_c", &request, &error));
  REQUIRE_OK(tma_jit_tensor_row_major(0x10000, TMA_JIT_F32, 1, shape, &tensor, &error));
  REQUIRE_OK(tma_jit_request_tensor(request, "X", &tensor, &error));
  tensor.dtype = TMA_JIT_F64;
  REQUIRE_OK(tma_jit_request_tensor(request, "Y", &tensor, &error));
  CHECK_FAILS(tma_jit_plan_create(engine, request, &plan, &error), TMA_JIT_INVALID_ARGUMENT, "f64");
  tensor.dtype = TMA_JIT_F32;
  REQUIRE_OK(tma_jit_request_tensor(request, "Y", &tensor, &error));
  REQUIRE_OK(tma_jit_plan_create(engine, request, &plan, &error));
  tma_jit_plan_free(plan);
  tensor.rank = 9;
  CHECK_FAILS(tma_jit_request_tensor(request, "Y", &tensor, &error), TMA_JIT_INVALID_ARGUMENT, "Y: rank 9");
  tensor.rank = 1;
  tensor.dtype = 99;
  CHECK_FAILS(tma_jit_request_tensor(request, "Y", &tensor, &error), TMA_JIT_INVALID_ARGUMENT, "Y: ");
  REQUIRE_OK(tma_jit_enumerate_json(engine, request, &json, &error));
  CHECK(has(json, "\"configurations\":2"));
  tma_jit_string_free(json);
  tma_jit_request_free(request);
}

/* An engine whose device is only a name plans and builds, and refuses what needs the device itself. */
static void refused_without_device(tma_jit_engine* engine) {
  tma_jit_request* request = make_request("scale_c", 64);
  tma_jit_launch* launch = NULL;
  tma_jit_function* function = NULL;
  tma_jit_buffer* buffer = NULL;
  CHECK_FAILS(tma_jit_prepare(engine, request, &launch, &error), TMA_JIT_UNSUPPORTED, "by name");
  CHECK_FAILS(tma_jit_function_create(engine, request, &function, &error), TMA_JIT_UNSUPPORTED, "by name");
  CHECK_FAILS(tma_jit_buffer_create(engine, 16, &buffer, &error), TMA_JIT_UNSUPPORTED, "by name");
  CHECK_FAILS(tma_jit_synchronize(engine, &error), TMA_JIT_UNSUPPORTED, "by name");
  CHECK(launch == NULL && function == NULL && buffer == NULL);
  tma_jit_request_free(request);
}

static void without_tma(void) {
  tma_jit_options options;
  tma_jit_engine* engine = NULL;
  tma_jit_plan* plan = NULL;
  tma_jit_request* request = NULL;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.device = "h100";
  options.disable_tma = 1;
  REQUIRE_OK(tma_jit_engine_create(&options, &engine, &error));
  REQUIRE_OK(tma_jit_request_create("gemm", &request, &error));
  REQUIRE_OK(tma_jit_request_file(request, "gemm", &error));
  CHECK(tma_jit_plan_create(engine, request, &plan, &error) != TMA_JIT_OK);
  CHECK(has(tma_jit_error_text(error), "TMA is disabled"));
  tma_jit_error_free(error);
  error = NULL;
  tma_jit_request_free(request);
  tma_jit_engine_free(engine);
}

static void emitting(tma_jit_engine* engine, const tma_jit_plan* plan) {
  tma_jit_source* source = NULL;
  char* text = NULL;
  size_t i = 0;
  REQUIRE_OK(tma_jit_emit(engine, plan, &source, &error));
  CHECK(strcmp(tma_jit_source_name(source), "scale_c.cu") == 0);
  CHECK(has(tma_jit_source_text(source), "THREADS") && has(tma_jit_source_text(source), kScale));
  for (; i < tma_jit_source_header_count(source); ++i) {
    CHECK(strncmp(tma_jit_source_header_name(source, i), "device/", 7) == 0);
    CHECK(strlen(tma_jit_source_header_text(source, i)) > 0);
  }
  CHECK(i > 0 && tma_jit_source_header_name(source, i) == NULL && tma_jit_source_header_text(source, i) == NULL);
  for (i = 0; i < tma_jit_source_option_count(source); ++i) CHECK(tma_jit_source_option(source, i)[0] == '-');
  CHECK(i > 0 && tma_jit_source_option(source, i) == NULL);
  tma_jit_source_free(source);
  REQUIRE_OK(tma_jit_emit_standalone(engine, plan, &text, &error));
  CHECK(has(text, "scale_c") && !has(text, "#include \"device/"));
  tma_jit_string_free(text);
}

static void check_cubin(const tma_jit_artifact* cubin, const char* key, int32_t compiled) {
  size_t bytes = 0;
  tma_jit_resources resources;
  const void* data = tma_jit_artifact_data(cubin, &bytes);
  CHECK(bytes > 64 && memcmp(data, "\177ELF", 4) == 0 && tma_jit_artifact_data(cubin, NULL) == data);
  CHECK(strcmp(tma_jit_artifact_entry(cubin), "scale_c") == 0 && strcmp(tma_jit_artifact_arch(cubin), "sm_90a") == 0);
  CHECK(strcmp(tma_jit_artifact_key(cubin), key) == 0 && strlen(key) == 64);
  CHECK(tma_jit_artifact_warning_count(cubin) == 0 && tma_jit_artifact_warning(cubin, 0) == NULL);
  resources.size = sizeof resources;
  REQUIRE_OK(tma_jit_artifact_resources(cubin, &resources, &error));
  CHECK(resources.registers > 0 && resources.spill_store_bytes == 0 && resources.compiled == compiled);
}

static void empty_cache(const char* folder) {
  tma_jit_cache_summary summary;
  uint64_t removed = 0;
  char* json = NULL;
  summary.size = sizeof summary;
  REQUIRE_OK(tma_jit_cache_stat(folder, &summary, &error));
  CHECK(summary.entries == 1 && summary.faulty == 0 && summary.bytes > 0);
  REQUIRE_OK(tma_jit_cache_verify_json(folder, &json, &error));
  CHECK(has(json, "\"kernel\":\"scale_c\"") && has(json, "\"fault\":\"\""));
  tma_jit_string_free(json);
  REQUIRE_OK(tma_jit_cache_clear(folder, &removed, &error));
  CHECK(removed == 1);
  REQUIRE_OK(tma_jit_cache_clear(folder, NULL, &error));
  REQUIRE_OK(tma_jit_default_cache_dir(&json, &error));
  CHECK(json != NULL);
  tma_jit_string_free(json);
}

/* False where there is no NVRTC. */
static int building(const char* folder) {
  tma_jit_engine* engine = make_engine("h100", folder);
  tma_jit_request* request = make_request("scale_c", 1000);
  tma_jit_plan* plan = NULL;
  tma_jit_artifact* cubin = NULL;
  char* text = NULL;
  char* key = NULL;
  tma_jit_status status = TMA_JIT_OK;
  CHECK(strcmp(tma_jit_engine_cache_dir(engine), folder) == 0);
  REQUIRE_OK(tma_jit_plan_create(engine, request, &plan, &error));
  emitting(engine, plan);
  status = tma_jit_build(engine, plan, &cubin, &error);
  if (status == TMA_JIT_NVRTC) {
    printf("skipped from build on: %s\n", tma_jit_error_text(error));
    tma_jit_error_free(error);
    error = NULL;
  } else {
    REQUIRE_OK(status);
    REQUIRE_OK(tma_jit_key(engine, plan, &key, &error));
    check_cubin(cubin, key, 1);
    tma_jit_artifact_free(cubin);
    REQUIRE_OK(tma_jit_build(engine, plan, &cubin, &error));
    check_cubin(cubin, key, 0);
    REQUIRE_OK(tma_jit_build_ptx(engine, plan, &text, &error));
    CHECK(has(text, ".entry scale_c"));
    tma_jit_string_free(text);
    tma_jit_plan_free(plan);
    REQUIRE_OK(tma_jit_request_hook(request, "apply", "a +", &error));
    REQUIRE_OK(tma_jit_plan_create(engine, request, &plan, &error));
    tma_jit_artifact_free(cubin);
    CHECK_FAILS(tma_jit_build(engine, plan, &cubin, &error), TMA_JIT_COMPILE, "apply");
    empty_cache(folder);
  }
  tma_jit_string_free(key);
  tma_jit_artifact_free(cubin);
  tma_jit_plan_free(plan);
  tma_jit_request_free(request);
  tma_jit_engine_free(engine);
  return status == TMA_JIT_OK;
}

static void count_message(tma_jit_log_level level, const char* message, void* user) {
  if (level == TMA_JIT_LOG_WARNING && has(message, "cache")) ++*(int*)user;
}

/* A cache that cannot be used is one warning to the log's callback, and no error. */
static void logging(const char* folder) {
  char path[512];
  int warnings = 0;
  tma_jit_options options;
  tma_jit_engine* engine = NULL;
  tma_jit_request* request = NULL;
  tma_jit_plan* plan = NULL;
  tma_jit_artifact* cubin = NULL;
  FILE* file = NULL;
  snprintf(path, sizeof path, "%s/file", folder);
  file = fopen(path, "w");
  CHECK(file != NULL && fclose(file) == 0);
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.device = "h100";
  options.cache_dir = path; /* not a folder */
  options.log = count_message;
  options.log_user = &warnings;
  REQUIRE_OK(tma_jit_engine_create(&options, &engine, &error));
  REQUIRE_OK(tma_jit_engine_add_template(engine, "scale_c.cu", kScale, &error));
  request = make_request("scale_c", 64);
  REQUIRE_OK(tma_jit_plan_create(engine, request, &plan, &error));
  REQUIRE_OK(tma_jit_build(engine, plan, &cubin, &error));
  CHECK(warnings == 1);
  tma_jit_artifact_free(cubin);
  tma_jit_plan_free(plan);
  tma_jit_request_free(request);
  tma_jit_engine_free(engine);
  remove(path);
}

static void* plan_often(void* engine) {
  tma_jit_request* request = NULL;
  int i = 0;
  int planned = 0;
  tma_jit_request_create("scale_c", &request, NULL);
  for (; i < 50; ++i) {
    tma_jit_plan* plan = NULL;
    tma_jit_request_dim(request, "N", 64 + i, NULL);
    planned += tma_jit_plan_create((tma_jit_engine*)engine, request, &plan, NULL) == TMA_JIT_OK;
    tma_jit_plan_free(plan);
  }
  tma_jit_request_free(request);
  return planned == 50 ? engine : NULL;
}

static void threads(tma_jit_engine* engine) {
  pthread_t running[4];
  size_t i = 0;
  for (; i < 4; ++i) CHECK(pthread_create(&running[i], NULL, plan_often, engine) == 0);
  for (i = 0; i < 4; ++i) {
    void* outcome = NULL;
    CHECK(pthread_join(running[i], &outcome) == 0 && outcome == engine);
  }
}

int main(void) {
  char folder[] = "/tmp/tma_jit_c_api_XXXXXX";
  tma_jit_engine* engine = make_engine("h100", NULL);
  int built = 0;
  CHECK(mkdtemp(folder) != NULL);
  workspaces(engine);
  planning(engine);
  untrusted_hooks(engine);
  sm_budget(engine);
  missing_template(engine, folder);
  tensors_of_a_request(engine);
  refused_without_device(engine);
  without_tma();
  threads(engine);
  tma_jit_engine_free(engine);
  built = building(folder);
  if (built) logging(folder);
  if (failures == 0 && !built) return SKIPPED;
  return finished("C API without a device");
}
