/* The C API on a device, the machine's first or the one that is named: memory, launches, rebinding, functions,
 * measuring. Ends with 77 where there is no device. */
#include "check.h"

#define COUNT 1000
#define OTHER 3001

static const char* const kScale =
    "//! kernel  scale_c  \"Y[i] = apply(alpha * X[i])\"\n"
    "//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a\n"
    "//! dim     N\n"
    "//! tensor  X : f32[N]\n"
    "//! tensor  Y : f32[N] out\n"
    "//! scalar  alpha : f32 = 1\n"
    "//! hook    apply(f32 a) : f32 = a\n"
    "//! launch  grid ceil_div(N, 128)  block 128\n"
    "#include \"device/types.cuh\"\n"
    "extern \"C\" __global__ void scale_c(View<const f32, 1> X, View<f32, 1> Y, f32 alpha, const Dims dims, const "
    "__grid_constant__ Hooks hooks) {\n"
    "  const int i = blockIdx.x * 128 + threadIdx.x;\n"
    "  if (i < dims.N) Y.data[i] = hooks.apply(alpha * X.data[i]);\n"
    "}\n";

static tma_jit_error* error = NULL;
static float values[OTHER];
static float results[OTHER];

static tma_jit_buffer* make_buffer(tma_jit_engine* engine, size_t count) {
  tma_jit_buffer* buffer = NULL;
  REQUIRE_OK(tma_jit_buffer_create(engine, count * sizeof(float), &buffer, &error));
  CHECK(tma_jit_buffer_bytes(buffer) == count * sizeof(float) && tma_jit_buffer_address(buffer) % 256 == 0);
  REQUIRE_OK(tma_jit_buffer_fill(buffer, 0xff, &error));
  return buffer;
}

static tma_jit_tensor vector_of(const tma_jit_buffer* buffer, int64_t count) {
  tma_jit_tensor tensor;
  REQUIRE_OK(tma_jit_tensor_row_major(tma_jit_buffer_address(buffer), TMA_JIT_F32, 1, &count, &tensor, &error));
  return tensor;
}

static void check_results(tma_jit_engine* engine, const tma_jit_buffer* buffer, size_t count, float alpha, float bias) {
  size_t i = 0;
  REQUIRE_OK(tma_jit_synchronize(engine, &error));
  memset(results, 0, sizeof results);
  REQUIRE_OK(tma_jit_buffer_download(buffer, results, count * sizeof(float), 0, &error));
  for (; i < count; ++i) {
    if (results[i] == alpha * values[i] + bias) continue;
    fprintf(stderr, "element %zu is %g, expected %g\n", i, (double)results[i], (double)(alpha * values[i] + bias));
    CHECK(0);
    return;
  }
}

static tma_jit_request* make_request(void) {
  tma_jit_request* request = NULL;
  REQUIRE_OK(tma_jit_request_create("scale_c", &request, &error));
  REQUIRE_OK(tma_jit_request_scalar_real(request, "alpha", 2.0, &error));
  REQUIRE_OK(tma_jit_request_hook(request, "apply", "a + 1.0f", &error));
  return request;
}

static void check_buffers(tma_jit_engine* engine) {
  tma_jit_buffer* buffer = make_buffer(engine, COUNT);
  const size_t bytes = tma_jit_buffer_bytes(buffer);
  tma_jit_buffer* empty = NULL;
  REQUIRE_OK(tma_jit_buffer_create(engine, 0, &empty, &error));
  CHECK(tma_jit_buffer_address(empty) == 0);
  REQUIRE_OK(tma_jit_buffer_upload(empty, NULL, 0, 0, &error));
  CHECK_FAILS(tma_jit_buffer_upload(buffer, values, bytes, 4, &error), TMA_JIT_INVALID_ARGUMENT, "at offset 4");
  CHECK_FAILS(tma_jit_buffer_download(buffer, results, 8, SIZE_MAX, &error), TMA_JIT_INVALID_ARGUMENT,
              "the buffer has");
  CHECK_FAILS(tma_jit_buffer_upload(buffer, NULL, 4, 0, &error), TMA_JIT_INVALID_ARGUMENT, "source is NULL");
  CHECK_FAILS(tma_jit_buffer_download(buffer, NULL, 4, 0, &error), TMA_JIT_INVALID_ARGUMENT, "destination is NULL");
  CHECK_FAILS(tma_jit_buffer_create(engine, (size_t)1 << 60, &empty, &error), TMA_JIT_DRIVER, "cuMemAlloc");
  CHECK(empty == NULL);
  REQUIRE_OK(tma_jit_buffer_upload(buffer, values, 8, 16, &error));
  REQUIRE_OK(tma_jit_buffer_download(buffer, results, 8, 16, &error));
  CHECK(memcmp(values, results, 8) == 0); /* NOLINT(bugprone-suspicious-memory-comparison): equal to the bit */
  tma_jit_buffer_free(buffer);
}

static void check_measure(tma_jit_engine* engine, tma_jit_launch* launch) {
  tma_jit_measure_options options;
  tma_jit_measurement time;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.repeats = 5;
  options.warmups = -1;
  options.host_launches = -1;
  time.size = sizeof time;
  REQUIRE_OK(tma_jit_measure(engine, launch, &options, &time, &error));
  CHECK(time.repeats == 5 && time.flushed_l2 == 1 && time.host_us == 0);
  CHECK(0 < time.min_us && time.min_us <= time.median_us && time.median_us <= time.max_us);
  options.repeats = -1;
  CHECK_FAILS(tma_jit_measure(engine, launch, &options, &time, &error), TMA_JIT_INVALID_ARGUMENT, "repeats is -1");
  options.repeats = 5;
  options.warmups = -2;
  CHECK_FAILS(tma_jit_measure(engine, launch, &options, &time, &error), TMA_JIT_INVALID_ARGUMENT, "warmups is -2");
  REQUIRE_OK(tma_jit_measure(engine, launch, NULL, &time, &error));
  CHECK(time.repeats == 30 && time.host_us > 0);
  printf("one launch: %.2f us on the device, %.2f us on the host\n", time.median_us, time.host_us);
}

/* The kernel of a launch, by its plan as text. */
static void check_load(tma_jit_engine* engine, tma_jit_launch* built, const tma_jit_buffer* x, tma_jit_buffer* y) {
  const tma_jit_stream none = NULL;
  size_t bytes = 0;
  const void* const kernel = tma_jit_artifact_data(tma_jit_launch_artifact(built), &bytes);
  char* json = NULL;
  tma_jit_launch* loaded = NULL;
  REQUIRE_OK(tma_jit_plan_json(tma_jit_launch_plan(built), &json, &error));
  CHECK_FAILS(tma_jit_load(engine, json, "nothing", 7, &loaded, &error), TMA_JIT_INVALID_ARGUMENT, "neither a cubin");
  CHECK_FAILS(tma_jit_load(engine, "{}", kernel, bytes, &loaded, &error), TMA_JIT_PARSE, "plan as JSON");
  REQUIRE_OK(tma_jit_load(engine, json, kernel, bytes, &loaded, &error));
  CHECK_FAILS(tma_jit_launch_run(loaded, none, &error), TMA_JIT_INVALID_ARGUMENT, "no address");
  REQUIRE_OK(tma_jit_launch_rebind(loaded, "X", tma_jit_buffer_address(x), &error));
  REQUIRE_OK(tma_jit_launch_rebind(loaded, "Y", tma_jit_buffer_address(y), &error));
  REQUIRE_OK(tma_jit_buffer_fill(y, 0xff, &error));
  REQUIRE_OK(tma_jit_launch_run(loaded, none, &error));
  check_results(engine, y, COUNT, 2, 1);
  tma_jit_launch_free(loaded);
  tma_jit_string_free(json);
}

static void check_launch(tma_jit_engine* engine, const tma_jit_buffer* x, tma_jit_buffer* y, tma_jit_buffer* z) {
  const tma_jit_stream per_thread = (tma_jit_stream)2; /* CU_STREAM_PER_THREAD */
  tma_jit_request* request = make_request();
  const tma_jit_tensor in = vector_of(x, COUNT);
  const tma_jit_tensor out = vector_of(y, COUNT);
  tma_jit_launch* launch = NULL;
  tma_jit_launch* same = NULL;
  tma_jit_stats stats;
  REQUIRE_OK(tma_jit_request_tensor(request, "X", &in, &error));
  REQUIRE_OK(tma_jit_request_tensor(request, "Y", &out, &error));
  REQUIRE_OK(tma_jit_prepare(engine, request, &launch, &error));
  CHECK(strcmp(tma_jit_plan_kernel(tma_jit_launch_plan(launch)), "scale_c") == 0);
  CHECK(strlen(tma_jit_artifact_key(tma_jit_launch_artifact(launch))) == 64);
  REQUIRE_OK(tma_jit_launch_run(launch, NULL, &error));
  check_results(engine, y, COUNT, 2, 1);
  REQUIRE_OK(tma_jit_launch_rebind(launch, "Y", tma_jit_buffer_address(z), &error));
  REQUIRE_OK(tma_jit_launch_run(launch, per_thread, &error));
  check_results(engine, z, COUNT, 2, 1);
  CHECK_FAILS(tma_jit_launch_rebind(launch, "W", 256, &error), TMA_JIT_NOT_FOUND, "W");
  CHECK_FAILS(tma_jit_launch_rebind(launch, "Y", 0, &error), TMA_JIT_INVALID_ARGUMENT, "null");
  CHECK_FAILS(tma_jit_launch_rebind(launch, "Y", 257, &error), TMA_JIT_INVALID_ARGUMENT, "0x101");
  check_measure(engine, launch);
  REQUIRE_OK(tma_jit_prepare_plan(engine, tma_jit_launch_plan(launch), &same, &error));
  REQUIRE_OK(tma_jit_buffer_fill(y, 0xff, &error));
  REQUIRE_OK(tma_jit_launch_run(same, NULL, &error));
  check_results(engine, y, COUNT, 2, 1);
  stats.size = sizeof stats;
  REQUIRE_OK(tma_jit_engine_stats(engine, &stats, &error));
  CHECK(stats.loads == 1);
  check_load(engine, same, x, y);
  tma_jit_launch_free(same);
  tma_jit_launch_free(launch);
  tma_jit_request_free(request);
}

/* Other values of alpha, of each kind, in a call each. */
static void check_function_scalars(tma_jit_engine* engine, tma_jit_function* function, const tma_jit_tensor* tensors,
                                   tma_jit_buffer* y) {
  const tma_jit_scalar alphas[] = {{"alpha", TMA_JIT_SCALAR_INTEGER, -3, 0, 0},
                                   {"alpha", TMA_JIT_SCALAR_UNSIGNED, 0, 5, 0},
                                   {"alpha", TMA_JIT_SCALAR_REAL, 0, 0, 0.5}};
  const float expected[] = {-3.0F, 5.0F, 0.5F};
  tma_jit_scalar wrong = alphas[0];
  tma_jit_call_options options;
  size_t i = 0;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.scalar_count = 1;
  for (; i < 3; ++i) {
    options.scalars = &alphas[i];
    REQUIRE_OK(tma_jit_buffer_fill(y, 0xff, &error));
    REQUIRE_OK(tma_jit_function_call_with(function, tensors, 2, &options, &error));
    check_results(engine, y, COUNT, expected[i], 1);
  }
  options.scalars = alphas;
  options.scalar_count = 3;
  REQUIRE_OK(tma_jit_function_call_with(function, tensors, 2, &options, &error));
  check_results(engine, y, COUNT, 0.5F, 1);
  REQUIRE_OK(tma_jit_function_call_with(function, tensors, 2, NULL, &error));
  check_results(engine, y, COUNT, 2, 1);
  options.scalars = NULL;
  CHECK_FAILS(tma_jit_function_call_with(function, tensors, 2, &options, &error), TMA_JIT_INVALID_ARGUMENT,
              "scalars is NULL");
  options.scalars = &wrong;
  options.scalar_count = 1;
  wrong.kind = 3;
  CHECK_FAILS(tma_jit_function_call_with(function, tensors, 2, &options, &error), TMA_JIT_INVALID_ARGUMENT,
              "scalars[0]: kind is 3");
  wrong.kind = TMA_JIT_SCALAR_INTEGER;
  wrong.name = "beta";
  CHECK_FAILS(tma_jit_function_call_with(function, tensors, 2, &options, &error), TMA_JIT_NOT_FOUND, "beta");
  wrong.name = NULL;
  CHECK_FAILS(tma_jit_function_call_with(function, tensors, 2, &options, &error), TMA_JIT_INVALID_ARGUMENT,
              "scalars[0]: name is NULL");
}

static tma_jit_function* check_function(tma_jit_engine* engine, const tma_jit_buffer* x, tma_jit_buffer* y) {
  const int64_t counts[] = {COUNT, OTHER, COUNT};
  tma_jit_request* request = make_request();
  tma_jit_function* function = NULL;
  tma_jit_tensor tensors[2];
  size_t i = 0;
  REQUIRE_OK(tma_jit_function_create(engine, request, &function, &error));
  for (; i < 3; ++i) {
    tensors[0] = vector_of(x, counts[i]);
    tensors[1] = vector_of(y, counts[i]);
    REQUIRE_OK(tma_jit_buffer_fill(y, 0xff, &error));
    REQUIRE_OK(tma_jit_function_call(function, tensors, 2, NULL, &error));
    check_results(engine, y, (size_t)counts[i], 2, 1);
  }
  CHECK_FAILS(tma_jit_function_call(function, tensors, 1, NULL, &error), TMA_JIT_INVALID_ARGUMENT, "it takes 2: X, Y");
  CHECK_FAILS(tma_jit_function_call(function, NULL, 2, NULL, &error), TMA_JIT_INVALID_ARGUMENT, "tensors is NULL");
  CHECK_FAILS(tma_jit_function_call(function, tensors, 1000, NULL, &error), TMA_JIT_INVALID_ARGUMENT, "1000 tensors");
  check_function_scalars(engine, function, tensors, y);
  tensors[1].dtype = 50;
  CHECK_FAILS(tma_jit_function_call(function, tensors, 2, NULL, &error), TMA_JIT_INVALID_ARGUMENT, "tensors[1]");
  tma_jit_request_free(request);
  return function;
}

int main(int count, char** words) {
  tma_jit_options options;
  tma_jit_device_info device;
  tma_jit_engine* engine = NULL;
  tma_jit_function* function = NULL;
  tma_jit_buffer* buffers[3];
  tma_jit_tensor tensors[2];
  size_t i = 0;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.no_cache = 1;
  options.device = count > 1 ? words[1] : NULL;
  REQUIRE_OK(tma_jit_engine_create(&options, &engine, &error));
  device.size = sizeof device;
  if (tma_jit_engine_device(engine, &device, &error) != TMA_JIT_OK) {
    printf("skipped: no GPU: %s\n", tma_jit_error_text(error));
    tma_jit_error_free(error);
    tma_jit_engine_free(engine);
    return SKIPPED;
  }
  printf("on %s (%s)\n", device.name, device.arch);
  REQUIRE_OK(tma_jit_engine_add_template(engine, "scale_c.cu", kScale, &error));
  for (i = 0; i < OTHER; ++i) values[i] = (float)(i % 1013);
  for (i = 0; i < 3; ++i) buffers[i] = make_buffer(engine, OTHER);
  REQUIRE_OK(tma_jit_buffer_upload(buffers[0], values, sizeof values, 0, &error));
  check_buffers(engine);
  check_launch(engine, buffers[0], buffers[1], buffers[2]);
  function = check_function(engine, buffers[0], buffers[1]);
  /* A function and buffers outlive their engine. */
  tensors[0] = vector_of(buffers[0], COUNT);
  tensors[1] = vector_of(buffers[2], COUNT);
  REQUIRE_OK(tma_jit_buffer_fill(buffers[2], 0xff, &error));
  REQUIRE_OK(tma_jit_synchronize(engine, &error));
  tma_jit_engine_free(engine);
  REQUIRE_OK(tma_jit_function_call(function, tensors, 2, NULL, &error));
  REQUIRE_OK(tma_jit_buffer_download(buffers[2], results, COUNT * sizeof(float), 0, &error));
  for (i = 0; i < COUNT; ++i) CHECK(results[i] == 2 * values[i] + 1);
  tma_jit_function_free(function);
  for (i = 0; i < 3; ++i) tma_jit_buffer_free(buffers[i]);
  return finished("C API on a device");
}
