/* The C program of docs/embedding.md: a plan without a device, then a launch where there is one. */
#include <stdio.h>
#include <string.h>

#include <tma_jit/c.h>

static int report(tma_jit_error* error) {
  const int status = tma_jit_error_code(error) == TMA_JIT_DRIVER ? 77 : 1;
  fprintf(stderr, "%s\n", tma_jit_error_text(error));
  tma_jit_error_free(error);
  return status;
}

int main(void) {
  const int64_t shape[] = {1 << 20};
  tma_jit_options options;
  tma_jit_engine* engine = NULL;
  tma_jit_buffer* source = NULL;
  tma_jit_buffer* target = NULL;
  tma_jit_request* request = NULL;
  tma_jit_launch* copy = NULL;
  tma_jit_tensor tensor;
  tma_jit_error* error = NULL;

  memset(&options, 0, sizeof options);
  options.size = sizeof options; /* every other field: zero is its default */
  if (tma_jit_engine_create(&options, &engine, &error) != TMA_JIT_OK) return report(error);
  if (tma_jit_buffer_create(engine, 1 << 20, &source, &error) != TMA_JIT_OK) return report(error);
  if (tma_jit_buffer_create(engine, 1 << 20, &target, &error) != TMA_JIT_OK) return report(error);
  tma_jit_buffer_fill(source, 7, NULL);

  tma_jit_request_create("copy", &request, NULL);
  tma_jit_tensor_row_major(tma_jit_buffer_address(source), TMA_JIT_U8, 1, shape, &tensor, NULL);
  tma_jit_request_tensor(request, "S", &tensor, NULL);
  tensor.address = tma_jit_buffer_address(target);
  tma_jit_request_tensor(request, "D", &tensor, NULL);
  if (tma_jit_prepare(engine, request, &copy, &error) != TMA_JIT_OK) return report(error);
  if (tma_jit_launch_run(copy, NULL, &error) != TMA_JIT_OK) return report(error);

  unsigned char last = 0;
  if (tma_jit_buffer_download(target, &last, 1, (1 << 20) - 1, &error) != TMA_JIT_OK) return report(error);
  printf("the last byte is %d\n", last);
  tma_jit_launch_free(copy);
  tma_jit_request_free(request);
  tma_jit_buffer_free(target);
  tma_jit_buffer_free(source);
  tma_jit_engine_free(engine);
  return last == 7 ? 0 : 1;
}
