/* The C API's values: constants, tensors, devices by name, structs that grow, and every function given nothing. */
#include "check.h"

static tma_jit_error* error = NULL;

static void constants(void) {
  tma_jit_dtype dtype = -1;
  CHECK(tma_jit_version() == TMA_JIT_VERSION);
  CHECK(strcmp(tma_jit_status_name(TMA_JIT_OK), "ok") == 0);
  CHECK(strcmp(tma_jit_status_name(TMA_JIT_NO_CONFIG), "no_config") == 0);
  CHECK(strcmp(tma_jit_status_name(TMA_JIT_IO), "io") == 0);
  CHECK(strcmp(tma_jit_status_name(TMA_JIT_INTERNAL), "internal") == 0);
  CHECK(strcmp(tma_jit_status_name(-1), "unknown") == 0);
  CHECK(strcmp(tma_jit_status_name(50), "unknown") == 0);
  CHECK(strcmp(tma_jit_dtype_name(TMA_JIT_BF16), "bf16") == 0);
  CHECK(tma_jit_dtype_size(TMA_JIT_E4M3) == 1);
  CHECK(tma_jit_dtype_size(TMA_JIT_F64) == 8);
  CHECK(tma_jit_dtype_name(-1) == NULL);
  CHECK(tma_jit_dtype_size(1000) == 0);
  REQUIRE_OK(tma_jit_dtype_named("e5m2", &dtype, &error));
  CHECK(dtype == TMA_JIT_E5M2);
  CHECK_FAILS(tma_jit_dtype_named("f12", &dtype, &error), TMA_JIT_NOT_FOUND, "f12");
  CHECK(dtype == TMA_JIT_E5M2);
  /* An error that nobody asked for, and one that is not there. */
  CHECK(tma_jit_dtype_named("f12", &dtype, NULL) == TMA_JIT_NOT_FOUND);
  CHECK(tma_jit_error_code(NULL) == TMA_JIT_OK);
  CHECK(strcmp(tma_jit_error_text(NULL), "") == 0);
  CHECK(strcmp(tma_jit_error_suggestion(NULL), "") == 0);
  CHECK(tma_jit_error_reason(NULL) == TMA_JIT_REASON_UNSPECIFIED);

  CHECK(strcmp(tma_jit_reason_name(TMA_JIT_REASON_COMPILER_HUNG), "compiler_hung") == 0);
  CHECK(strcmp(tma_jit_reason_name(TMA_JIT_REASON_CRASHED_BEFORE), "crashed_before") == 0);
  CHECK(strcmp(tma_jit_reason_name(99), "unknown") == 0);
}

static void lost_arrivals(void) {
  const uint32_t clear[8] = {0};
  const uint32_t lost[8] = {1, 3, 40, 0x400, 1, 1, 2, (uint32_t)-256};
  REQUIRE_OK(tma_jit_check_lost_arrival(clear, &error));
  CHECK_FAILS(tma_jit_check_lost_arrival(lost, &error), TMA_JIT_DRIVER, "block 3, thread 40");
  CHECK_NULL_REFUSED(tma_jit_check_lost_arrival(NULL, &error), "record");
}

static void tensors(void) {
  const int64_t shape[] = {2, 0, 3};
  const int64_t huge[] = {INT64_MAX, INT64_MAX, 2};
  const int64_t negative[] = {-1};
  tma_jit_tensor tensor;
  REQUIRE_OK(tma_jit_tensor_row_major(4096, TMA_JIT_F16, 3, shape, &tensor, &error));
  CHECK(tensor.address == 4096 && tensor.rank == 3 && tensor.shape[2] == 3);
  CHECK(tensor.strides[2] == 1 && tensor.strides[1] == 3 && tensor.strides[0] == 3);
  REQUIRE_OK(tma_jit_tensor_row_major(0, TMA_JIT_F16, 0, NULL, &tensor, &error));
  CHECK_FAILS(tma_jit_tensor_row_major(0, TMA_JIT_F16, 6, shape, &tensor, &error), TMA_JIT_INVALID_ARGUMENT, "rank 6");
  CHECK_FAILS(tma_jit_tensor_row_major(0, TMA_JIT_F16, -1, shape, &tensor, &error), TMA_JIT_INVALID_ARGUMENT,
              "rank -1");
  CHECK_FAILS(tma_jit_tensor_row_major(0, 77, 1, shape, &tensor, &error), TMA_JIT_INVALID_ARGUMENT, "tma_jit_dtype 77");
  CHECK_FAILS(tma_jit_tensor_row_major(0, TMA_JIT_F16, 1, negative, &tensor, &error), TMA_JIT_INVALID_ARGUMENT, "-1");
  CHECK_FAILS(tma_jit_tensor_row_major(0, TMA_JIT_F16, 3, huge, &tensor, &error), TMA_JIT_INVALID_ARGUMENT, "64 bits");
  CHECK_NULL_REFUSED(tma_jit_tensor_row_major(0, TMA_JIT_F16, 1, NULL, &tensor, &error), "shape");
  CHECK_NULL_REFUSED(tma_jit_tensor_row_major(0, TMA_JIT_F16, 3, shape, NULL, &error), "out");
}

static void devices(void) {
  tma_jit_device_info info;
  char* arch = NULL;
  size_t i = 0;
  for (; i < tma_jit_known_device_count(); ++i) {
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    REQUIRE_OK(tma_jit_device_named(tma_jit_known_device(i), &info, &error));
    CHECK(info.size == sizeof info && info.sm_count > 0 && info.smem_per_block > 0);
    CHECK(strcmp(info.name, tma_jit_known_device(i)) == 0 && strncmp(info.arch, "sm_", 3) == 0);
  }
  CHECK(i > 3 && tma_jit_known_device(i) == NULL);
  info.sm_count = -5;
  CHECK_FAILS(tma_jit_device_named("h1000", &info, &error), TMA_JIT_NOT_FOUND, "h1000");
  CHECK(tma_jit_device_named("h1000", &info, &error) == TMA_JIT_NOT_FOUND);
  CHECK(tma_jit_error_reason(error) == TMA_JIT_REASON_UNKNOWN_NAME);
  CHECK(strcmp(tma_jit_error_suggestion(error), "h100") == 0);
  CHECK(strstr(tma_jit_error_message(error), "did you mean") == NULL);
  CHECK(strstr(tma_jit_error_text(error), "; did you mean \"h100\"?") != NULL);
  tma_jit_error_free(error);
  error = NULL;
  CHECK(info.sm_count == -5);
  REQUIRE_OK(tma_jit_normalise_arch("sm_121", &arch, &error));
  CHECK(strcmp(arch, "sm_121a") == 0);
  tma_jit_string_free(arch);
  CHECK_FAILS(tma_jit_normalise_arch("ampere", &arch, &error), TMA_JIT_INVALID_ARGUMENT, "ampere");
  CHECK(arch == NULL);
}

/* A caller compiled with an older header, and one with a newer. */
static void growing_structs(void) {
  struct {
    tma_jit_device_info known;
    uint64_t later[2];
  } newer;
  struct {
    tma_jit_options known;
    uint64_t later;
  } newer_options;
  tma_jit_device_info info;
  tma_jit_engine* engine = NULL;
  memset(&info, 0x5a, sizeof info);
  info.size = offsetof(tma_jit_device_info, sm_count);
  REQUIRE_OK(tma_jit_device_named("h100", &info, &error));
  CHECK(info.compute_capability == 90 && info.sm_count == 0x5a5a5a5a);
  memset(&newer, 0x5a, sizeof newer);
  newer.known.size = sizeof newer;
  REQUIRE_OK(tma_jit_device_named("h100", &newer.known, &error));
  CHECK(newer.known.sm_count == 132 && newer.later[0] == 0 && newer.later[1] == 0);
  CHECK(newer.known.size == sizeof newer);
  info.size = 0;
  CHECK_FAILS(tma_jit_device_named("h100", &info, &error), TMA_JIT_INVALID_ARGUMENT, "sizeof(tma_jit_device_info)");
  memset(&newer_options, 0, sizeof newer_options);
  CHECK_FAILS(tma_jit_engine_create(&newer_options.known, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "size is 0");
  newer_options.known.size = sizeof newer_options;
  REQUIRE_OK(tma_jit_engine_create(&newer_options.known, &engine, &error));
  tma_jit_engine_free(engine);
  newer_options.later = 1;
  CHECK_FAILS(tma_jit_engine_create(&newer_options.known, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "does not know");
  CHECK(engine == NULL);
  newer_options.known.size = offsetof(tma_jit_options, arch);
  REQUIRE_OK(tma_jit_engine_create(&newer_options.known, &engine, &error));
  tma_jit_engine_free(engine);
}

static void bad_options(void) {
  const char* const folders[] = {"/tmp", NULL};
  tma_jit_options options;
  tma_jit_engine* engine = NULL;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.log_level = 7;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "log_level is 7");
  options.log_level = TMA_JIT_LOG_OFF;
  options.template_dir_count = 2;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "template_dirs is NULL");
  options.template_dir_count = 0;
  options.cache_read_only_count = 1;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "cache_read_only is NULL");
  options.cache_read_only_count = 0;
  options.cache_pack_keys = folders;
  options.cache_pack_key_count = 2;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "cache_pack_keys[1] is NULL");
  options.cache_pack_key_count = 0;
  options.template_dir_count = 2;
  options.template_dirs = folders;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "template_dirs[1] is NULL");
  options.template_dir_count = 0;
  options.nvrtc_dir_count = 2;
  options.nvrtc_dirs = folders;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "nvrtc_dirs[1] is NULL");
  options.nvrtc_dir_count = 0;
  options.seal = 3;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "seal is 3; it is 0 to 2");
  options.seal = TMA_JIT_SEAL_OFF;
  options.tuning_policy = -1;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "tuning_policy is -1");
  options.tuning_policy = TMA_JIT_TUNING_OFF;
  options.compiler_workers = -1;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "compiler_workers is -1");
  options.compiler_workers = 0;
  options.compile_time_limit_s = -2;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "compile_time_limit_s is -2");
  options.compile_time_limit_s = TMA_JIT_NONE;
  options.cache_wait_s = -0.5;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "cache_wait_s is -0.5");
  options.cache_wait_s = TMA_JIT_NONE;
  options.tuning_device_share = TMA_JIT_NONE; /* has no such value */
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "tuning_device_share is -1");
  options.tuning_device_share = 0;
  REQUIRE_OK(tma_jit_engine_create(&options, &engine, &error));
  tma_jit_engine_free(engine);
  engine = NULL;
  CHECK_NULL_REFUSED(tma_jit_engine_create(NULL, NULL, &error), "out");
  REQUIRE_OK(tma_jit_engine_create(NULL, &engine, &error));
  tma_jit_engine_free(engine);
}

/* Every function that takes an engine or makes something, with nothing to work on. */
static void nulls_of_engines(void) {
  char* text = NULL;
  tma_jit_plan* plan = NULL;
  tma_jit_source* source = NULL;
  tma_jit_artifact* cubin = NULL;
  tma_jit_launch* launch = NULL;
  tma_jit_function* function = NULL;
  tma_jit_buffer* buffer = NULL;
  tma_jit_presets* presets = NULL;
  CHECK_NULL_REFUSED(tma_jit_engine_add_template(NULL, "a.cu", "", &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_engine_add_template_file(NULL, "a.cu", &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_engine_device(NULL, NULL, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_engine_stats(NULL, NULL, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_engine_environment_json(NULL, &text, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_engine_kernels_json(NULL, &text, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_presets_create(NULL, "gemm", NULL, NULL, 0, &presets, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_plan_create(NULL, NULL, &plan, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_enumerate_json(NULL, NULL, &text, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_emit(NULL, NULL, &source, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_emit_standalone(NULL, NULL, &text, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_key(NULL, NULL, &text, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_build(NULL, NULL, &cubin, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_build_ptx(NULL, NULL, &text, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_prepare(NULL, NULL, &launch, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_prepare_plan(NULL, NULL, &launch, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_load(NULL, NULL, NULL, 0, &launch, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_function_create(NULL, NULL, &function, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_buffer_create(NULL, 16, &buffer, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_synchronize(NULL, &error), "engine");
  CHECK_NULL_REFUSED(tma_jit_measure(NULL, NULL, NULL, NULL, &error), "engine");
  CHECK(tma_jit_engine_cache_dir(NULL) == NULL);
}

static void nulls_of_values(void) {
  int64_t value = 0;
  char* text = NULL;
  tma_jit_request* request = NULL;
  CHECK_NULL_REFUSED(tma_jit_request_create(NULL, &request, &error), "kernel");
  CHECK_NULL_REFUSED(tma_jit_request_create("gemm", NULL, &error), "out");
  CHECK_NULL_REFUSED(tma_jit_request_tensor(NULL, "A", NULL, &error), "request");
  CHECK_NULL_REFUSED(tma_jit_request_dim(NULL, "A", 1, &error), "request");
  CHECK_NULL_REFUSED(tma_jit_request_fix_dim(NULL, "A", &error), "request");
  CHECK_NULL_REFUSED(tma_jit_request_type(NULL, "A", TMA_JIT_U8, &error), "request");
  CHECK_NULL_REFUSED(tma_jit_request_param(NULL, "A", 1, &error), "request");
  CHECK_NULL_REFUSED(tma_jit_request_scalar_integer(NULL, "A", 1, &error), "request");
  CHECK_NULL_REFUSED(tma_jit_request_scalar_unsigned(NULL, "A", 1, &error), "request");
  CHECK_NULL_REFUSED(tma_jit_request_scalar_real(NULL, "A", 1, &error), "request");
  CHECK_NULL_REFUSED(tma_jit_request_hook(NULL, "A", "a", &error), "request");
  CHECK_NULL_REFUSED(tma_jit_request_workspace(NULL, "A", 1, &error), "request");
  CHECK_NULL_REFUSED(tma_jit_request_reference(NULL, 1, &error), "request");
  CHECK_NULL_REFUSED(tma_jit_request_file(NULL, "gemm", &error), "request");
  REQUIRE_OK(tma_jit_request_create("gemm", &request, &error));
  CHECK_NULL_REFUSED(tma_jit_request_dim(request, NULL, 1, &error), "name");
  CHECK_NULL_REFUSED(tma_jit_request_tensor(request, "A", NULL, &error), "tensor");
  CHECK_NULL_REFUSED(tma_jit_request_hook(request, "apply", NULL, &error), "text");
  CHECK_NULL_REFUSED(tma_jit_request_operand(NULL, "bias : f32[N]", &error), "request");
  CHECK_NULL_REFUSED(tma_jit_request_operand(request, NULL, &error), "declaration");
  CHECK_FAILS(tma_jit_request_type(request, "T", -3, &error), TMA_JIT_INVALID_ARGUMENT, "tma_jit_dtype -3");
  tma_jit_request_free(request);
  CHECK_NULL_REFUSED(tma_jit_plan_geometry(NULL, NULL, &error), "plan");
  CHECK_NULL_REFUSED(tma_jit_plan_param(NULL, "BM", &value, &error), "plan");
  CHECK_NULL_REFUSED(tma_jit_plan_work(NULL, NULL, NULL, &error), "plan");
  CHECK_NULL_REFUSED(tma_jit_plan_json(NULL, &text, &error), "plan");
  CHECK_NULL_REFUSED(tma_jit_plan_estimate_json(NULL, NULL, &text, &error), "plan");
  CHECK_NULL_REFUSED(tma_jit_plan_workspace(NULL, 0, NULL, &error), "plan");
  CHECK(tma_jit_plan_workspace_count(NULL) == 0);
  CHECK_NULL_REFUSED(tma_jit_artifact_resources(NULL, NULL, &error), "artifact");
  CHECK_NULL_REFUSED(tma_jit_launch_run(NULL, NULL, &error), "launch");
  CHECK_NULL_REFUSED(tma_jit_launch_rebind(NULL, "A", 1, &error), "launch");
  CHECK_NULL_REFUSED(tma_jit_function_call(NULL, NULL, 0, NULL, &error), "function");
  CHECK_NULL_REFUSED(tma_jit_function_call_with(NULL, NULL, 0, NULL, &error), "function");
  CHECK_NULL_REFUSED(tma_jit_buffer_upload(NULL, NULL, 0, 0, &error), "buffer");
  CHECK_NULL_REFUSED(tma_jit_buffer_download(NULL, NULL, 0, 0, &error), "buffer");
  CHECK_NULL_REFUSED(tma_jit_buffer_fill(NULL, 0, &error), "buffer");
  CHECK_NULL_REFUSED(tma_jit_cache_stat(NULL, NULL, &error), "root");
  CHECK_NULL_REFUSED(tma_jit_cache_verify_json(NULL, &text, &error), "root");
  CHECK_NULL_REFUSED(tma_jit_cache_clear(NULL, NULL, &error), "root");
  CHECK_NULL_REFUSED(tma_jit_default_cache_dir(NULL, &error), "out");
}

/* What only shows something is empty where there is nothing to show, and freeing nothing does nothing. */
static void nothing(void) {
  size_t bytes = 1;
  CHECK(tma_jit_plan_kernel(NULL) == NULL && tma_jit_plan_entry(NULL) == NULL && tma_jit_plan_file(NULL) == NULL);
  CHECK(tma_jit_plan_arch(NULL) == NULL && tma_jit_source_text(NULL) == NULL && tma_jit_source_name(NULL) == NULL);
  CHECK(tma_jit_source_header_count(NULL) == 0 && tma_jit_source_header_name(NULL, 0) == NULL);
  CHECK(tma_jit_source_header_text(NULL, 0) == NULL && tma_jit_source_option_count(NULL) == 0);
  CHECK(tma_jit_source_option(NULL, 0) == NULL && tma_jit_artifact_data(NULL, &bytes) == NULL && bytes == 0);
  CHECK(tma_jit_artifact_entry(NULL) == NULL && tma_jit_artifact_arch(NULL) == NULL &&
        tma_jit_artifact_key(NULL) == NULL);
  CHECK(tma_jit_artifact_warning_count(NULL) == 0 && tma_jit_artifact_warning(NULL, 0) == NULL);
  CHECK(tma_jit_presets_count(NULL) == 0 && tma_jit_presets_at(NULL, 0) == NULL);
  CHECK(tma_jit_launch_plan(NULL) == NULL && tma_jit_launch_artifact(NULL) == NULL);
  CHECK(tma_jit_buffer_address(NULL) == 0 && tma_jit_buffer_bytes(NULL) == 0);
  tma_jit_error_free(NULL);
  tma_jit_string_free(NULL);
  tma_jit_engine_free(NULL);
  tma_jit_request_free(NULL);
  tma_jit_presets_free(NULL);
  tma_jit_plan_free(NULL);
  tma_jit_source_free(NULL);
  tma_jit_artifact_free(NULL);
  tma_jit_launch_free(NULL);
  tma_jit_function_free(NULL);
  tma_jit_buffer_free(NULL);
}

int main(void) {
  constants();
  lost_arrivals();
  tensors();
  devices();
  growing_structs();
  bad_options();
  nulls_of_engines();
  nulls_of_values();
  nothing();
  return finished("C API values");
}
