// Runs the GPU tests where there is a GPU; elsewhere says why not and exits with 77, which CTest counts as skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "driver/context.h"

namespace {

tma_jit::Result<tma_jit::driver::SharedContext> first_device() {
  TMA_JIT_ASSIGN(tma_jit::driver::SharedApi api, tma_jit::driver::load());
  return tma_jit::driver::Context::open(std::move(api), 0);
}

}  // namespace

int main(int argc, char** argv) {
  const auto context = first_device();
  if (!context) {
    std::printf("skipped: no GPU: %s\n", context.error().text().c_str());
    return 77;
  }
  std::printf("on %s, %s\n", (*context)->device().name.c_str(),
              tma_jit::driver::version_text((*context)->api().version).c_str());
  return doctest::Context(argc, argv).run();
}
