// Plans of every kernel and probe, written as JSON and read back for a launch.
#include <algorithm>

#include <doctest/doctest.h>

#include <tma_jit/engine.h>
#include <tma_jit/json.h>

#include "core/fields.h"
#include "support/combinations.h"

namespace tma_jit {
namespace {

// JSON always states the element type of the map, so that it is compared as if the template had.
void check_same(const TensorMapSpec& read, TensorMapSpec made) {
  made.as = made.type();
  CHECK(read.rank == made.rank);
  each_map_field(
      [](const char* name, const auto& one, const auto& other) {
        INFO(name);
        if constexpr (requires { one.data(); }) {
          CHECK(std::ranges::equal(one, other));
        } else {
          CHECK(one == other);
        }
      },
      read, made);
}

void check_same(const Argument& read, const Argument& made) {
  INFO(made.name);
  CHECK(read.kind == made.kind);
  CHECK(read.name == made.name);
  CHECK(read.alignment == made.alignment);
  CHECK(read.image == made.image);
  CHECK(read.workspace_bytes == made.workspace_bytes);
  CHECK(read.workspace_zeroed == made.workspace_zeroed);
  CHECK(read.present == made.present);
  CHECK(read.viewed == made.viewed);
  CHECK(read.output == made.output);
  CHECK(read.shape == made.shape);
  CHECK(read.strides == made.strides);
  CHECK(read.hooks_offset == made.hooks_offset);
  CHECK(read.declaration == made.declaration);
  if (made.kind == Argument::Kind::tensor_map || made.kind == Argument::Kind::view) {
    CHECK(read.dtype == made.dtype);
    CHECK(read.address_alignment == made.address_alignment);
  }
  REQUIRE(read.map.has_value() == made.map.has_value());
  if (made.map) check_same(*read.map, *made.map);
}

void check_same(const Plan& read, const Plan& made) {
  CHECK(read.kernel == made.kernel);
  CHECK(read.entry == made.entry);
  CHECK(read.file == made.file);
  CHECK(read.arch == made.arch);
  CHECK(read.config == made.config);
  CHECK(read.geometry.grid == made.geometry.grid);
  CHECK(read.geometry.block == made.geometry.block);
  CHECK(read.geometry.cluster == made.geometry.cluster);
  CHECK(read.geometry.smem_bytes == made.geometry.smem_bytes);
  CHECK(read.geometry.programmatic == made.geometry.programmatic);
  CHECK(read.work.flops == made.work.flops);
  REQUIRE(read.arguments.size() == made.arguments.size());
  for (std::size_t i = 0; i < made.arguments.size(); ++i) check_same(read.arguments[i], made.arguments[i]);
}

Plan read_back(const Plan& plan, const std::map<std::string, Scalar>& scalars = {}) {
  auto read = parse_plan(json_of(plan), scalars);
  REQUIRE_MESSAGE(read, read.error().text());
  return *std::move(read);
}

}  // namespace

TEST_CASE("a plan of every kernel as JSON has all that a launch takes") {
  int count = 0;
  for (const char* device : {"h100", "b200", "a100"}) {
    Engine engine({.device = *Device::parse(device), .use_cache = false});
    for (const auto& info : testing::sampled(engine.kernels())) {
      REQUIRE(info);
      const auto request = engine.example({.kernel = info->kernel});
      if (!request) continue;  // not for this target
      const auto plan = engine.plan(*request);
      if (!plan) continue;
      INFO(device, ": ", info->kernel);
      check_same(read_back(*plan), *plan);
      ++count;
    }
  }
  CHECK(count > (testing::combinations() == testing::Combinations::few ? 5 : 100));
}

TEST_CASE("a plan as JSON: operands of hooks, broadcast ones, fixed dims, and other values of scalars") {
  Engine engine({.device = *Device::parse("h100"), .use_cache = false});
  Request request{.kernel = "gemm",
                  .dims = {{"M", 128}, {"N", 256}, {"K", 64}},
                  .scalars = {{"alpha", 0.5}},
                  .hooks = {{"epilogue", "alpha * x * scale[row, column] + bias[column]"}}};
  request.fixed = {"K"};
  request.operands = {"scale : f32[1, N]", "bias : bf16[N]", "alpha : f32"};
  const auto plan = engine.plan(request);
  REQUIRE_MESSAGE(plan, plan.error().text());
  check_same(read_back(*plan), *plan);
  request.scalars["alpha"] = 3.0;
  check_same(read_back(*plan, {{"alpha", 3.0}}), *engine.plan(request));
}

TEST_CASE("JSON that is no plan") {
  Engine engine({.device = *Device::parse("h100"), .use_cache = false});
  const std::string json = json_of(*engine.plan({.kernel = "gemm", .dims = {{"M", 64}, {"N", 64}, {"K", 64}}}));
  REQUIRE(parse_plan(json));
  for (const char* text : {"", "{", "[]", "null", "{}", R"({"kernel": 5})"}) CHECK(!parse_plan(text));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = json;
    const std::size_t at = changed.find(from);
    REQUIRE(at != changed.npos);
    return parse_plan(changed.replace(at, from.size(), to));
  };
  CHECK(!with("\"tensor map\"", "\"heap\""));
  CHECK(!with("\"swizzle\":128", "\"swizzle\":127"));
  CHECK(!with("\"swizzle\":128", "\"swizzle\":-1"));
  CHECK(!with("\"mode\":\"tile\"", "\"mode\":\"im2col\""));
  CHECK(!with("\"box\":[", "\"box\":[1,"));
  CHECK(!with("\"fill\":\"zero\"", "\"fill\":\"one\""));
  CHECK(!with("\"map\":{", "\"map\":5,\"was\":{"));
  CHECK(!with("\"bytes\":128", "\"bytes\":64"));
  CHECK(!with("\"bytes\":128", "\"bytes\":1000000000"));
  CHECK(!with("\"block\":[", "\"block\":[0.5,"));
  const auto same = with("\"reason\":", "\"later\":1,\"reason\":");
  CHECK(same);  // what a later version adds
}

}  // namespace tma_jit
