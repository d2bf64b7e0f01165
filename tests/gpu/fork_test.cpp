// A device does not survive a fork, and the library says so instead of letting CUDA fail in its own way.
#include <sys/wait.h>
#include <unistd.h>

#include "gpu_fixture.h"

namespace tma_jit {

using namespace testing;

TEST_CASE("a child of a process that has opened the device is told so, and the parent goes on") {
  Gpu gpu;
  TMA_JIT_REQUIRE_OK(gpu.engine.device());
  const pid_t child = ::fork();
  if (child == 0) {
    Engine engine({.use_cache = false, .log_level = LogLevel::off});
    const auto device = engine.device();
    const bool said = !device && device.error().message.find("forked") != std::string::npos;
    ::_exit(said ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  const DeviceBuffer x = gpu.buffer_of(ramp(100));
  const DeviceBuffer y = gpu.buffer(400);
  TMA_JIT_REQUIRE_OK(gpu.prepared(scale_of(x, y, 100)).launch());
  CHECK(gpu.values_of<float>(y, 100)[99] == 200);
}

}  // namespace tma_jit
