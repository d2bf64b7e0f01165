// Kernels that combine the elements of a row, against their float64 references: rows of a warp, of a block and of a
// cluster, whole and ragged.
#include <map>

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <tma_jit/tma_jit.h>

#include "gpu/trial_check.h"

namespace tma_jit {
namespace {

using Numbers = std::map<std::string, std::int64_t>;

struct Types {
  DType in, out;
};

void check_rows(Engine& engine, const char* kernel, Numbers dims, Types types, const Numbers& params = {}) {
  const Request request{
      .kernel = kernel, .dims = std::move(dims), .types = {{"T", types.in}, {"O", types.out}}, .params = params};
  const std::string fault = testing::fault_of(engine, request, cli::DataChoices{}, 1);
  CHECK_MESSAGE(fault.empty(), fmt::format("{} {} {}\n{}", kernel, request.dims, params, fault));
}

void check_shapes(Engine& engine, const char* kernel, const Numbers& params = {}) {
  const Types brain{DType::bf16, DType::bf16}, single{DType::f32, DType::f32};
  for (const std::int64_t columns : {1, 96, 101, 512, 1000, 2047, 8192, 10007, 65536})
    check_rows(engine, kernel, {{"M", 77}, {"N", columns}}, brain, params);
  for (const std::int64_t columns : {3, 128, 4096, 16384, 131072})
    check_rows(engine, kernel, {{"M", 5}, {"N", columns}}, single, params);
  check_rows(engine, kernel, {{"M", 5}, {"N", 250000}}, {DType::f16, DType::f32}, params);
  check_rows(engine, kernel, {{"M", 0}, {"N", 128}}, {DType::f32, DType::bf16}, params);
  check_rows(engine, kernel, {{"M", 7}, {"N", 0}}, single, params);
}

}  // namespace

TEST_CASE("softmax agrees with its reference, whoever shares a row") {
  Engine engine;
  check_shapes(engine, "softmax");
}

TEST_CASE("norms agree with their references, with and without weights, biases and stored sums") {
  Engine engine;
  check_shapes(engine, "rms_norm");
  check_shapes(engine, "rms_norm", {{"WEIGHT", 0}, {"SUM", 1}});
  for (const std::int64_t affine : {0, 1, 2})
    check_shapes(engine, "layer_norm", {{"AFFINE", affine}, {"SUM", affine % 2}});
}

}  // namespace tma_jit
