#include <app_kernels.h>

#include "../plan.h"

int main() {
  tma_jit::Engine engine({.device = tma_jit::Device::known("h100"), .use_cache = false});
  if (const auto added = app_kernels::add_to(engine); !added) {
    std::fprintf(stderr, "%s\n", added.error().text().c_str());
    return 1;
  }
  return print_plan(engine, {.kernel = "scale", .dims = {{"N", 1000}}, .scalars = {{"factor", 2.0}}});
}
