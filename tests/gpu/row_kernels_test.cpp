// Kernels that combine the elements of a row, against their float64 references: rows of a warp, of a block and of a
// cluster, whole and ragged.
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <tma_jit/tma_jit.h>

#include "gpu/trial_check.h"

namespace tma_jit {
namespace {

void check_softmax(Engine& engine, std::int64_t rows, std::int64_t columns, DType in, DType out) {
  const Request request{
      .kernel = "softmax", .dims = {{"M", rows}, {"N", columns}}, .types = {{"T", in}, {"O", out}}, .params = {}};
  const std::string fault = testing::fault_of(engine, request, cli::DataChoices{}, 1);
  CHECK_MESSAGE(fault.empty(), fmt::format("M={} N={}\n{}", rows, columns, fault));
}

}  // namespace

TEST_CASE("softmax agrees with its reference, whoever shares a row") {
  Engine engine;
  for (const std::int64_t columns : {1, 96, 101, 512, 1000, 2047, 8192, 10007, 65536})
    check_softmax(engine, 77, columns, DType::bf16, DType::bf16);
  for (const std::int64_t columns : {3, 128, 4096, 16384, 131072})
    check_softmax(engine, 5, columns, DType::f32, DType::f32);
  check_softmax(engine, 5, 250000, DType::f16, DType::f32);
  check_softmax(engine, 0, 128, DType::f32, DType::bf16);
  check_softmax(engine, 7, 0, DType::f32, DType::f32);
}

}  // namespace tma_jit
