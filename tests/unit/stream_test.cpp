// Products planned for memory that has nothing to write back, and what a chain pins for that.
#include <tma_jit/engine.h>
#include <tma_jit/kernel_info.h>

#include <doctest/doctest.h>

#include "engine/following.h"

namespace tma_jit {
namespace {

// A kernel whose blocks are wider where launches follow each other.
constexpr const char* kFollower = R"cu(//! kernel  follower
//! arch    sm_90a
//! dim     N
//! param   AFTER = 0 in {0, 3} asked chain 3 "what ran before"
//! param   BLOCK = 32 in {32, 64}
//! tensor  X : f32[N] out
//! launch  grid ceil_div(N, BLOCK)  block BLOCK
//! preset  BLOCK = 64 when AFTER == 3 && N > 100
//! preset  BLOCK = 32
extern "C" __global__ void follower(View<f32, 1> X, const Dims dims) {}
)cu";

Engine planning_engine() {
  return Engine({.device = Device::known("h100"), .use_cache = false, .log_level = LogLevel::off});
}

Request product(std::int64_t rows) {
  return {.kernel = "gemm", .dims = {{"M", rows}, {"N", 14336}, {"K", 4096}}};
}

Plan planned(std::int64_t rows, std::int64_t stream) {
  Engine engine = planning_engine();
  Request request = product(rows);
  request.params["STREAM"] = stream;
  auto plan = engine.plan(request);
  REQUIRE_MESSAGE(plan, plan.error().text());
  return *std::move(plan);
}

using Params = decltype(Request::params);

Params followed(Engine& engine, const Request& request) {
  return engine::following(EngineInternals::state_of(engine), request).request.params;
}

}  // namespace

TEST_CASE("few rows are loaded by TMA where products follow each other, else by ordinary loads") {
  for (const std::int64_t rows : {1, 8, 16}) {
    CAPTURE(rows);
    CHECK(planned(rows, 0).file.ends_with("gemm_few_rows.cu"));
    CHECK(planned(rows, 1).file.ends_with("gemm_wgmma_split.cu"));
  }
}

TEST_CASE("a stage that follows another is planned for that, unless its request says otherwise") {
  Engine engine = planning_engine();
  CHECK(followed(engine, product(8)) == Params{{"STREAM", 1}});
  Request pinned = product(8);
  pinned.params["STREAM"] = 0;
  CHECK(followed(engine, pinned) == pinned.params);
  pinned.params = {{"INVARIANT", 0}};
  CHECK(followed(engine, pinned) == Params{{"INVARIANT", 0}, {"STREAM", 1}});
}

TEST_CASE("a stage for which it makes no difference what it follows is planned as a launch alone, by its record") {
  Engine engine = planning_engine();
  CHECK(followed(engine, product(4096)).empty());
  CHECK(followed(engine, {.kernel = "softmax", .dims = {{"M", 64}, {"N", 512}}}).empty());
  CHECK(followed(engine, {.kernel = "no such kernel"}).empty());
}

TEST_CASE("what decides how a stage is planned is its plan, too, and is not searched for again") {
  Engine engine = planning_engine();
  Engine::State& state = EngineInternals::state_of(engine);
  for (const std::int64_t rows : {8, 4096}) {
    CAPTURE(rows);
    const engine::Stage stage = engine::following(state, product(rows));
    CHECK(engine.stats().plans == 0);
    REQUIRE(stage.searched);
    const auto searched = state.search(stage.request, engine.device().value());
    REQUIRE(searched);
    CHECK(stage.searched->file == searched->file);
    CHECK(stage.searched->config == searched->config);
  }
  Plan marked = engine::following(state, product(8)).searched.value();
  marked.reason = "the plan that was given";
  CHECK(state.plan(engine::following(state, product(8)).request, marked).value().reason == marked.reason);
}

TEST_CASE("a param that another file of the kernel lacks is not pinned by a chain") {
  Engine engine = planning_engine();
  REQUIRE(engine.add_template("follower.cu", kFollower));
  std::string other = kFollower;
  const auto leave_out = [&](std::string_view line) {
    const std::size_t begin = other.find(line);
    other.erase(begin, other.find('\n', begin) + 1 - begin);
  };
  leave_out("//! param   AFTER");
  leave_out("//! preset  BLOCK = 64");
  REQUIRE(engine.add_template("other.cu", other));
  CHECK(followed(engine, {.kernel = "follower", .dims = {{"N", 1000}}}).empty());
}

TEST_CASE("any kernel may declare what a chain pins, and says so") {
  Engine engine = planning_engine();
  REQUIRE(engine.add_template("follower.cu", kFollower));
  CHECK(followed(engine, {.kernel = "follower", .dims = {{"N", 1000}}}) == Params{{"AFTER", 3}});
  CHECK(followed(engine, {.kernel = "follower", .dims = {{"N", 10}}}).empty());
  const auto infos = engine.kernels("follower");
  REQUIRE(infos.size() == 1);
  REQUIRE(infos.front());
  CHECK(infos.front()->params[0].chain == 3);
  CHECK_FALSE(infos.front()->params[1].chain);
}

}  // namespace tma_jit
