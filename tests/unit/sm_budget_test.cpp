// Request::sm_budget: planned with so many SMs, and refused where a launch would take more.
#include <tma_jit/engine.h>
#include <tma_jit/warm_list.h>

#include <doctest/doctest.h>

namespace tma_jit {
namespace {

Engine engine_of_h100() {
  return Engine({.device = Device::known("h100"), .use_cache = false, .log_level = LogLevel::off});
}

Request product(int budget, std::string file = {}) {
  return {
      .kernel = "gemm", .dims = {{"M", 4096}, {"N", 4096}, {"K", 1024}}, .sm_budget = budget, .file = std::move(file)};
}

}  // namespace

TEST_CASE("a budget of SMs divides the tiles among as many blocks at most") {
  Engine engine = engine_of_h100();
  const auto whole = engine.plan(product(0));
  REQUIRE(whole);
  CHECK(whole->geometry.grid[0] > 112);
  for (const int budget : {112, 37, 1}) {
    const auto plan = engine.plan(product(budget));
    REQUIRE_MESSAGE(plan, plan.error().text());
    CHECK(static_cast<int>(plan->geometry.grid[0]) <= budget);
    CHECK(static_cast<int>(plan->geometry.grid[0]) > budget / 2);
  }
  CHECK(engine.plan(product(1000))->geometry.grid[0] == whole->geometry.grid[0]);
}

TEST_CASE("a kernel with a block for each tile is refused where the tiles are more than the budget") {
  Engine engine = engine_of_h100();
  const auto refused = engine.plan(product(112, "gemm_wgmma_split"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::no_config);
  CHECK(refused.error().text().find("blocks for a budget of 112 SMs; a configuration whose blocks go from tile to tile "
                                    "can have fewer") != std::string::npos);
  Request few = product(112, "gemm_wgmma_split");
  few.dims = {{"M", 64}, {"N", 512}, {"K", 1024}};
  CHECK(engine.plan(few));
}

TEST_CASE("clusters that need all SMs of a budget are planned only where they are asked for") {
  Engine engine = engine_of_h100();
  Request large = {.kernel = "gemm", .dims = {{"M", 8192}, {"N", 8192}, {"K", 8192}}, .file = "gemm_wgmma"};
  CHECK(engine.plan(large)->geometry.cluster[0] == 2);
  large.sm_budget = 1000;  // more than there are
  CHECK(engine.plan(large)->geometry.cluster[0] == 2);
  large.sm_budget = 112;
  CHECK(engine.plan(large)->geometry.cluster[0] == 1);
  large.params = {{"CLUSTER", 2}};
  CHECK(engine.plan(large)->geometry.cluster[0] == 2);
}

TEST_CASE("a negative budget is an error, and a list of requests keeps one") {
  Engine engine = engine_of_h100();
  CHECK(engine.plan(product(-1)).error().text().find("sm_budget is -1; it is a number of SMs, or 0 for all of them") !=
        std::string::npos);
  CHECK(parse_warm_line(request_line(product(112)))->request.sm_budget == 112);
  CHECK(request_line(product(0)).find("sm_budget") == std::string::npos);
  CHECK_FALSE(parse_warm_line(R"({"kernel": "gemm", "sm_budget": 4294967296})"));
}

}  // namespace tma_jit
