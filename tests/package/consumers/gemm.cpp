#include "plan.h"

int main() {
  tma_jit::Engine engine({.device = tma_jit::Device::known("h100"), .use_cache = false});
  return print_plan(engine, {.kernel = "gemm", .dims = {{"M", 4096}, {"N", 4096}, {"K", 4096}}});
}
