/* A kernel for the C API's tests, and an engine and requests of it. */
#ifndef TMA_JIT_TESTS_C_API_SCALE_H
#define TMA_JIT_TESTS_C_API_SCALE_H

#include "check.h"

static const char* const kScale =
    "//! kernel  scale_c  \"Y[i] = apply(alpha * X[i])\"\n"
    "//! arch    sm_90a\n"
    "//! dim     N\n"
    "//! param   THREADS = 128 in {64, 128}\n"
    "//! type    T = f32 in {f32, bf16}\n"
    "//! tensor  X : T[N]\n"
    "//! tensor  Y : T[N] out\n"
    "//! scalar  alpha : f32 = 1\n"
    "//! hook    apply(f32 a) : f32 = a\n"
    "//! launch  grid ceil_div(N, THREADS)  block THREADS\n"
    "//! work    flops N  bytes 2 * N * sizeof(T)\n"
    "#include \"device/ptx/cvt.cuh\"\n"
    "extern \"C\" __global__ void scale_c(View<const T, 1> X, View<T, 1> Y, f32 alpha, const Dims dims, const "
    "__grid_constant__ Hooks hooks) {\n"
    "  const int i = blockIdx.x * THREADS + threadIdx.x;\n"
    "  if (i < dims.N) Y.data[i] = static_cast<T>(hooks.apply(alpha * static_cast<f32>(X.data[i])));\n"
    "}\n";

static tma_jit_error* error = NULL;

/* The engine has the template of scale_c. */
static inline tma_jit_engine* make_engine(const char* device, const char* cache_dir) {
  tma_jit_options options;
  tma_jit_engine* engine = NULL;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.device = device;
  options.cache_dir = cache_dir;
  options.no_cache = cache_dir == NULL;
  REQUIRE_OK(tma_jit_engine_create(&options, &engine, &error));
  REQUIRE_OK(tma_jit_engine_add_template(engine, "scale_c.cu", kScale, &error));
  return engine;
}

static inline tma_jit_request* make_request(const char* kernel, int64_t n) {
  tma_jit_request* request = NULL;
  REQUIRE_OK(tma_jit_request_create(kernel, &request, &error));
  REQUIRE_OK(tma_jit_request_dim(request, "N", n, &error));
  return request;
}

#endif
