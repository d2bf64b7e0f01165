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

// A param that decides which tensors there are.
const std::string kScales = R"(//! kernel k
//! arch sm_90a
//! type T = f32 in {f32, u8}
//! dim N
//! param SCALES = 1 in {0, 1, 2}
//! param LANES = 8 in {8, 16}
//! require SCALES != 1 || LANES * 8 <= N "a lane has 8 columns"
//! require (SCALES == 2) == integer(T) "bytes have other scales"
//! tensor S : f32[SCALES == 0 ? 1 : N] when SCALES <= 1
//! tensor D : T[N]
//! launch grid 1 block 32
//! preset SCALES = 0, LANES = 16
//! preset SCALES = 1, LANES = 16
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

TEST_CASE("a hook's text that needs another value of a param that is asked for decides it") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! param OP = 0 in {0, 1, 5} asked
//! hook combine(f32 a when OP == 5) : f32 = 0
//! launch grid 1 block 32
)";
  CHECK(config(plan(text, of(8))) == "OP=0");
  CHECK(config(plan(text, {.kernel = "k", .dims = {{"N", 8}}, .hooks = {{"combine", "a + 1"}}})) == "OP=5");
}

TEST_CASE("what a request without tensors computes depends on neither presets nor the search for a configuration") {
  CHECK(config(plan(kScales, of(128))) == "SCALES=1 LANES=16");
  CHECK(config(plan(kScales, of(64))) == "SCALES=1 LANES=8");
  CHECK(refusal(kScales, of(8)).find("all 2 violate  SCALES != 1 || LANES * 8 <= N") != std::string::npos);
  CHECK(refusal(kScales, of(64, {{"LANES", 16}})).find("a lane has 8 columns") != std::string::npos);
  CHECK(config(plan(kScales, of(8, {{"SCALES", 0}}))) == "SCALES=0 LANES=16");
  Request bytes = of(8);
  bytes.types = {{"T", DType::u8}};
  CHECK(config(plan(kScales, bytes)) == "SCALES=2 LANES=8");
}

TEST_CASE("the tensors of a request are known where no configuration is valid") {
  const Pointers templates = {parsed(kScales)};
  const auto tensors = tensors_of(of(8), device(), templates);
  REQUIRE(tensors.has_value());
  REQUIRE(tensors->size() == 2);
  CHECK(tensors->front().name == "S");
  CHECK(tensors->front().tensor.shape.front() == 8);
  CHECK(tensors->back().tensor.dtype == DType::f32);
  CHECK(tensors_of(of(8, {{"SCALES", 0}}), device(), templates)->front().tensor.shape.front() == 1);
  CHECK(tensors_of({.kernel = "k"}, device(), templates).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("tensors decide a param that says which of them there are") {
  const auto given = [](std::int64_t extent) {
    return Request{.kernel = "k",
                   .tensors = {{"S", Tensor::row_major(std::uint64_t{256}, DType::f32, {extent})},
                               {"D", Tensor::row_major(std::uint64_t{256}, DType::f32, {64})}}};
  };
  CHECK(config(plan(kScales, given(1))) == "SCALES=0 LANES=16");
  CHECK(config(plan(kScales, given(64))) == "SCALES=1 LANES=8");
}

TEST_CASE("files of one kernel compute the same, whichever takes the request and whatever their defaults") {
  const auto file = [](const std::string& name, int order, int tile, bool asked) {
    const std::string text = fmt::format(
        "//! kernel k\n//! arch sm_90a\n//! dim N\n"
        "//! param ORDER = {} in {{0, 1}}{}\n"
        "//! param TILE = {} in {{8, 16}}\n"
        "//! require N <= {} \"too long\"\n"
        "//! tensor D : f32[{}]\n"
        "//! launch grid 1 block 32\n",
        order, asked ? " asked" : "", tile, name == "a.cu" ? 8 : 1000, asked ? "N" : "ORDER == 0 ? N : 1");
    return parsed(text, name);
  };
  for (const bool asked : {true, false}) {
    const Pointers templates = {file("a.cu", 0, 8, asked), file("b.cu", 1, 16, asked)};
    CHECK(config(make_plan(of(8), device(), templates)) == "ORDER=0 TILE=8");
    CHECK(config(make_plan(of(100), device(), templates)) == "ORDER=0 TILE=16");
    CHECK(config(make_plan(of(8, {{"ORDER", 1}}), device(), templates)) == "ORDER=1 TILE=8");
    CHECK(config(make_plan(of(100, {{"ORDER", 1}}), device(), templates)) == "ORDER=1 TILE=16");
    Request alone = of(100);
    alone.file = "b";
    CHECK(config(make_plan(alone, device(), templates)) == "ORDER=1 TILE=16");
    const Result<Enumeration> counted = enumerate(of(100), device(), templates);
    REQUIRE(counted.has_value());
    CHECK(counted->valid == 2);
    const auto ranked = rank(of(8), device(), templates, 10);
    REQUIRE(ranked);
    CHECK(std::ranges::count(*ranked, std::string("b"), &Candidate::file) > 0);
    for (const Candidate& candidate : *ranked)
      CHECK(candidate.params.front() == std::pair<std::string, std::int64_t>("ORDER", 0));
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
