// The ranges a profiler sees, over a fake driver. Run by CTest with and without the injection library of this folder,
// whose path is the only argument; 77 where there is no NVRTC.
#include <dlfcn.h>
#include <cstdio>
#include <cstdlib>

#include <tma_jit/device.h>
#include <tma_jit/engine.h>

#include "support/engines.h"
#include "support/fake_driver.h"
#include "support/templates.h"

namespace {

using namespace tma_jit;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "failed: %s\n", why.c_str());
  std::exit(1);
}

using Ranges = const char*(int* open);

// The injection's list; null where NVTX did not load it.
Ranges* ranges_of(const char* injection) {
  void* library = ::dlopen(injection, RTLD_NOW | RTLD_NOLOAD);
  return library == nullptr ? nullptr : reinterpret_cast<Ranges*>(::dlsym(library, "tma_jit_test_ranges"));
}

void expect(Ranges* ranges, const std::string& expected) {
  if (ranges == nullptr) return;
  int open = 0;
  const std::string seen = ranges(&open);
  if (seen != expected) fail("expected\n" + expected + "and got\n" + seen);
  if (open != 0) fail(std::to_string(open) + " ranges are still open");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) fail("usage: ranges INJECTION");
  testing::FakeDriver fake;
  fake.api().kernel_get_param_info = nullptr;
  Engine engine = testing::engine_with({.use_cache = false}, fake.provider());
  if (!engine.add_template("scale.cu", testing::kScale)) fail("the template");
  Ranges* ranges = ranges_of(argv[1]);
  const bool wanted = std::getenv("NVTX_INJECTION64_PATH") != nullptr;
  if (wanted != (ranges != nullptr))
    fail(wanted ? "NVTX did not load the injection" : "the injection is loaded unasked");
  const Request request{.kernel = "scale",
                        .tensors = {{"X", Tensor::row_major(std::uint64_t{0x10000}, DType::f32, {100})},
                                    {"Y", Tensor::row_major(std::uint64_t{0x20000}, DType::f32, {100})}}};
  auto launch = engine.prepare(request);
  if (!launch && launch.error().code == ErrorCode::nvrtc) {
    std::printf("skipped: %s\n", launch.error().text().c_str());
    return 77;
  }
  if (!launch) fail(launch.error().text());
  expect(ranges, "tma-jit: compile scale\ntma-jit: load scale\n");
  if (!launch->launch() || !launch->launch()) fail("the launch");
  expect(ranges, "tma-jit: launch scale\ntma-jit: launch scale\n");
  if (!engine.prepare(request)) fail("the second launch");  // nothing is compiled or loaded anew
  expect(ranges, "");
  fake.fail("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_FAILED);
  if (launch->launch()) fail("a launch that fails");
  expect(ranges, "tma-jit: launch scale\n");
  std::printf("%s\n", wanted ? "the profiler saw every range" : "no profiler, no ranges");
  return 0;
}
