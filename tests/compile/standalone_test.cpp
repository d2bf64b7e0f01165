// The standalone text is one file that nvcc compiles as it is.
#include <cstdlib>
#include <filesystem>

#include <tma_jit/engine.h>

#include "base/file.h"
#include "nvrtc_fixture.h"
#include "support/temporary_folder.h"

namespace tma_jit::compile {
namespace {

std::string nvcc() {
  for (const char* path : {"/usr/local/cuda/bin/nvcc", "/usr/bin/nvcc"}) {
    if (std::filesystem::exists(path)) return path;
  }
  return {};
}

void check_with_nvcc(const std::string& text) {
  const TemporaryFolder folder;
  REQUIRE(write_file(folder.path() / "k.cu", text));
  const std::string command =
      fmt::format("cd {} && {} -arch=sm_90a -cubin k.cu > log 2>&1", folder.path().string(), nvcc());
  CHECK_MESSAGE(std::system(command.c_str()) == 0, read_file(folder.path() / "log").value_or(""));
  CHECK(std::filesystem::exists(folder.path() / "k.cubin"));
}

}  // namespace

TEST_CASE("nvcc compiles a standalone file") {
  if (nvcc().empty()) {
    MESSAGE("skipped: there is no nvcc");
    return;
  }
  Plan plan = plan_with_hook("a + b * SCALE");
  Constant scale;
  scale.name = "SCALE";
  scale.value = 3;
  plan.constants = {scale};
  plan.dims = {{"M", 8, false, false}, {"K", 16, false, true}};
  plan.body =
      "//! kernel k\n#include \"device/types.cuh\"\n"
      "extern \"C\" __global__ void k(f32* p, const Dims dims, const Hooks hooks) {\n"
      "  p[dims.M] = hooks.apply(p[0], K);\n"
      "}\n";
  check_with_nvcc(source::standalone(plan, test_headers()).value());
}

TEST_CASE("nvcc compiles an embedded kernel's standalone file, and its reference's") {
  if (nvcc().empty()) {
    MESSAGE("skipped: there is no nvcc");
    return;
  }
  Options options;
  options.device = Device::known("h100");
  options.use_cache = false;
  Engine engine(options);
  Request request = engine.presets("gemm")->front();
  for (const bool reference : {false, true}) {
    request.reference = reference;
    check_with_nvcc(engine.emit_standalone(engine.plan(request).value()).value());
  }
}

}  // namespace tma_jit::compile
