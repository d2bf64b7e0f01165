// STREAM=1: products planned for memory that has nothing to write back.
#include <tma_jit/engine.h>

#include <doctest/doctest.h>

namespace tma_jit {
namespace {

Plan planned(std::int64_t rows, std::int64_t stream) {
  Engine engine({.device = Device::known("h100"), .use_cache = false, .log_level = LogLevel::off});
  auto plan =
      engine.plan({.kernel = "gemm", .dims = {{"M", rows}, {"N", 14336}, {"K", 4096}}, .params = {{"STREAM", stream}}});
  REQUIRE_MESSAGE(plan, plan.error().text());
  return *std::move(plan);
}

}  // namespace

TEST_CASE("few rows are loaded by TMA where products follow each other, else by ordinary loads") {
  for (const std::int64_t rows : {1, 8, 16}) {
    CAPTURE(rows);
    CHECK(planned(rows, 0).file.ends_with("gemm_few_rows.cu"));
    CHECK(planned(rows, 1).file.ends_with("gemm_wgmma_split.cu"));
  }
}

}  // namespace tma_jit
