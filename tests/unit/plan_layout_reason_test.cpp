// The line that says why tensors as they lie get another plan than they might have.
#include "planning_fixture.h"
#include "template/catalogue.h"

namespace tma_jit::plan {
namespace {

constexpr std::uint64_t kBase = 1 << 20;

std::string reason(const Request& request, std::string_view on = "h100") {
  templates::TemplateSet set;
  const auto plan = make_plan(request, device(on), set.find(request.kernel).value());
  return plan ? plan->reason : plan.error().text();
}

Request copy_bytes(std::uint64_t from, std::uint64_t to) {
  return {.kernel = "copy",
          .tensors = {{"S", Tensor::row_major(from, DType::u8, {100'000})},
                      {"D", Tensor::row_major(to, DType::u8, {100'000})}}};
}

Request copy_rows(std::int64_t pitch) {
  return {.kernel = "copy",
          .tensors = {{"S", Tensor::strided(kBase, DType::u8, {1000, 1000}, {pitch, 1})},
                      {"D", Tensor::strided(2 * kBase, DType::u8, {1000, 1000}, {1008, 1})}}};
}

}  // namespace

TEST_CASE("tensors that lie well have no reason, and neither have dims alone") {
  CHECK(reason(copy_bytes(kBase, 2 * kBase)).empty());
  CHECK(reason(copy_rows(1008)).empty());
  CHECK(reason({.kernel = "copy", .dims = {{"N", 1001}}}).empty());
  CHECK(reason({.kernel = "copy", .dims = {{"M", 1001}, {"N", 33}}}).empty());
}

TEST_CASE("an address, and only that of the tensor which is the cause") {
  CHECK(reason(copy_bytes(kBase + 1, 2 * kBase)) == "S begins at 1 byte: VEC=1 instead of 16, UNROLL=8 instead of 1");
  CHECK(reason(copy_bytes(kBase, 2 * kBase + 8)).starts_with("D begins at 8 bytes: VEC=8 instead of 16"));
  CHECK(reason(copy_bytes(kBase + 4, 2 * kBase + 8)).starts_with("S begins at 4 bytes, D begins at 8 bytes: VEC=4"));
}

TEST_CASE("rows that TMA refuses") {
  CHECK(reason(copy_rows(1001)) == "rows of S are 1001 bytes apart: without TMA, by copy_rows instead of copy_tiled");
}

TEST_CASE("a gemm without TMA") {
  Request request{.kernel = "gemm",
                  .tensors = {{"A", Tensor::row_major(kBase + 2, DType::bf16, {512, 512})},
                              {"B", Tensor::row_major(2 * kBase, DType::bf16, {512, 512})},
                              {"D", Tensor::row_major(3 * kBase, DType::bf16, {512, 512})}}};
  const std::string text = reason(request);
  CHECK(text.starts_with("A begins at 2 bytes: without TMA, by gemm_mma_cp_async instead of gemm_"));
  CHECK(text.ends_with(" % of the speed by the estimate"));
  request.reference = true;
  request.tensors[2].tensor.dtype = DType::f64;
  CHECK(reason(request).empty());
}

}  // namespace tma_jit::plan
