// The only file that is told where the build put the workers: such a path keeps other folders from sharing objects.
#include "worker_fixture.h"

namespace tma_jit::compile {

std::filesystem::path test_worker() {
  return TMA_JIT_TEST_WORKER;
}
std::filesystem::path real_worker() {
  return TMA_JIT_REAL_WORKER;
}

}  // namespace tma_jit::compile
