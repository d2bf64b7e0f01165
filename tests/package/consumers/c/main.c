/* Plans one request for a device by name through the C API, which needs neither a GPU nor CUDA, and prints it. */
#include <stdio.h>
#include <string.h>

#include <tma_jit/c.h>

static int fail(tma_jit_error* error) {
  fprintf(stderr, "%s\n", tma_jit_error_text(error));
  tma_jit_error_free(error);
  return 1;
}

int main(void) {
  const char* const dims[] = {"M", "N", "K"};
  tma_jit_options options;
  tma_jit_engine* engine = NULL;
  tma_jit_request* request = NULL;
  tma_jit_plan* plan = NULL;
  tma_jit_error* error = NULL;
  int i = 0;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.device = "h100";
  options.no_cache = 1;
  if (tma_jit_engine_create(&options, &engine, &error) != TMA_JIT_OK) return fail(error);
  if (tma_jit_request_create("gemm", &request, &error) != TMA_JIT_OK) return fail(error);
  for (; i < 3; ++i) {
    if (tma_jit_request_dim(request, dims[i], 4096, &error) != TMA_JIT_OK) return fail(error);
  }
  if (tma_jit_plan_create(engine, request, &plan, &error) != TMA_JIT_OK) return fail(error);
  printf("%s from %s for %s\n", tma_jit_plan_kernel(plan), tma_jit_plan_file(plan), tma_jit_plan_arch(plan));
  tma_jit_plan_free(plan);
  tma_jit_request_free(request);
  tma_jit_engine_free(engine);
  return 0;
}
