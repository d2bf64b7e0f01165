// Gemms with a hook that reads a matrix keep everything in registers, however wide the sums beside it are. Needs NVRTC.
#include <doctest/doctest.h>

#include <tma_jit/engine.h>

namespace tma_jit {

TEST_CASE("a hook that reads a matrix spills nothing beside wide sums") {
  Options options;
  options.device = Device::known("h200");
  options.use_cache = false;
  Engine engine(options);
  for (const std::int64_t rows : {128, 192, 208, 224, 240}) {
    CAPTURE(rows);
    Request request;
    request.kernel = "gemm";
    request.file = "gemm_wgmma_split";
    request.dims = {{"M", 1000}, {"N", 4096}, {"K", 4096}};
    request.params = {{"BM", rows},  {"BN", 128},    {"STAGES", 4}, {"SPLIT", 1},
                      {"CHUNKS", 1}, {"SHARE_M", 1}, {"SHARE_N", 1}};
    request.operands = {"up : bf16[M, N]"};
    request.hooks = {{"epilogue", "silu(x) * up[row, column]"}};
    const auto plan = engine.plan(request);
    REQUIRE_MESSAGE(plan, (plan ? "" : plan.error().text()));
    const auto cubin = engine.build(*plan);
    REQUIRE_MESSAGE(cubin, (cubin ? "" : cubin.error().text()));
    CHECK(cubin->resources.spill_store_bytes == 0);
    CHECK(cubin->resources.spill_load_bytes == 0);
  }
}

}  // namespace tma_jit
