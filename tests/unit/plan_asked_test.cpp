// Params that only a request changes.
#include "planning_fixture.h"

namespace tma_jit::plan {
namespace {

const std::string kAsked = R"(//! kernel k
//! arch sm_90a
//! dim N
//! param TILE = 8 in {8, 16, 32}
//! param ORDER = 0 in {0, 1} asked "1: in a fixed order"
//! require ORDER == 0 || TILE <= N
//! launch grid 1 block 32
//! work cycles 100 - TILE - 50 * ORDER
//! preset ORDER = 1, TILE = 32
//! preset TILE = 16
)";

Request of(std::int64_t n, std::map<std::string, std::int64_t> params = {}) {
  return {.kernel = "k", .dims = {{"N", n}}, .params = std::move(params)};
}

}  // namespace

TEST_CASE("a param that is asked for keeps its default, whatever a preset or an estimate would gain from another") {
  CHECK(config(plan(kAsked, of(100))) == "TILE=16 ORDER=0");
  CHECK(config(plan(kAsked, of(100, {{"TILE", 8}}))) == "TILE=8 ORDER=0");
  CHECK(enumeration(kAsked, of(100)).configurations == 3);
}

TEST_CASE("where the request pins it, presets for this value are for the request, and rules about it count") {
  CHECK(config(plan(kAsked, of(100, {{"ORDER", 1}}))) == "TILE=32 ORDER=1");
  CHECK(config(plan(kAsked, of(16, {{"ORDER", 1}}))) == "TILE=16 ORDER=1");
  CHECK(config(plan(kAsked, of(8, {{"ORDER", 1}}))) == "TILE=8 ORDER=1");
  CHECK(config(plan(kAsked, of(100, {{"ORDER", 0}}))) == "TILE=16 ORDER=0");
  CHECK(refusal(kAsked, of(4, {{"ORDER", 1}})) ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:6: all 3 violate  ORDER == 0 || TILE <= N\n"
        "    ORDER = 1, TILE = 8, N = 4");
}

TEST_CASE("a rule that forbids the default of a param that is asked for does not choose another value") {
  std::string text = kAsked;
  text.insert(text.find("//! launch"), "//! require ORDER == 1 \"only in a fixed order\"\n");
  CHECK(refusal(text, of(100)).find("only in a fixed order") != std::string::npos);
  CHECK(config(plan(text, of(100, {{"ORDER", 1}}))) == "TILE=32 ORDER=1");
  const Pointers templates = {parsed(text)};
  const std::vector<Request> requests = preset_requests(device(), templates, {}).value();
  CHECK(requests.size() == 3);
  for (const Request& request : requests) {
    CHECK(request.params.at("ORDER") == 1);
    CHECK(make_plan(request, device(), templates).has_value());
  }
}

TEST_CASE("what is ranked for tuning computes what the request asks for") {
  const Pointers templates = {parsed(kAsked)};
  for (const std::int64_t order : {0, 1}) {
    const auto ranked = rank(of(100, {{"ORDER", order}}), device(), templates, 10);
    REQUIRE(ranked);
    CHECK(ranked->size() == 3);
    for (const Candidate& candidate : *ranked) {
      CHECK(std::ranges::find(candidate.params, std::pair<std::string, std::int64_t>("ORDER", order)) !=
            candidate.params.end());
    }
  }
}

}  // namespace tma_jit::plan
