// Gemms with a hook that reads a matrix keep everything in registers, however wide the sums beside it are. Needs NVRTC.
#include <doctest/doctest.h>

#include <tma_jit/engine.h>

#include <map>
#include <string>

#include "support/shared_cache.h"

namespace tma_jit {

namespace {

// Builds the gemm of `file` with a gate as its epilogue, and checks that it spills nothing.
void check_gate(const char* file, const std::map<std::string, std::int64_t>& params) {
  Options options;
  options.device = Device::known("h200");
  options.use_cache = testing::has_shared_cache();
  Engine engine(options);
  Request request;
  request.kernel = "gemm";
  request.file = file;
  request.dims = {{"M", 1000}, {"N", 4096}, {"K", 4096}};
  request.params = params;
  request.operands = {"up : bf16[M, N]"};
  request.hooks = {{"epilogue", "silu(x) * up[row, column]"}};
  const auto plan = engine.plan(request);
  REQUIRE_MESSAGE(plan, (plan ? "" : plan.error().text()));
  const auto cubin = engine.build(*plan);
  REQUIRE_MESSAGE(cubin, (cubin ? "" : cubin.error().text()));
  CHECK(cubin->resources.spill_store_bytes == 0);
  CHECK(cubin->resources.spill_load_bytes == 0);
}

}  // namespace

TEST_CASE("a hook that reads a matrix spills nothing beside wide sums") {
  for (const std::int64_t rows : {128, 192, 208, 224, 240}) {
    CAPTURE(rows);
    check_gate("gemm_wgmma_split",
               {{"BM", rows}, {"BN", 128}, {"STAGES", 4}, {"SPLIT", 1}, {"CHUNKS", 1}, {"SHARE_M", 1}, {"SHARE_N", 1}});
  }
}

TEST_CASE("a hook that reads a matrix spills nothing beside the sums of swapped ping-pong tiles") {
  for (const std::int64_t rows : {128, 160, 168, 176}) {
    CAPTURE(rows);
    check_gate("gemm_wgmma", {{"BM", rows}, {"BN", 128}, {"STAGES", 4}, {"PINGPONG", 1}, {"SWAP", 1}});
  }
}

}  // namespace tma_jit
