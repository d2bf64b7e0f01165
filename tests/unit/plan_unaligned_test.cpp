// Which of the library's own files serve tensors that TMA cannot walk, and devices without TMA.
#include "planning_fixture.h"
#include "template/catalogue.h"

namespace tma_jit::plan {
namespace {

struct Case {
  std::int64_t offset = 0;   // bytes of the addresses above a multiple of 256
  std::int64_t pitch = 128;  // elements
  std::string_view on = "h100";
};

Tensor matrix(const Case& c, DType dtype, std::int64_t rows, std::int64_t columns) {
  const std::uint64_t address = 0x10000 + static_cast<std::uint64_t>(c.offset);
  return Tensor::strided(address, dtype, {rows, columns}, {c.pitch, 1});
}

Result<Plan> planned(const std::string& kernel, std::vector<NamedTensor> tensors, const Case& c) {
  templates::TemplateSet set;
  const auto templates = set.find(kernel).value();
  return make_plan({.kernel = kernel, .tensors = std::move(tensors)}, device(c.on), templates);
}

Result<Plan> gemm(const Case& c) {
  return planned("gemm",
                 {{"A", matrix(c, DType::bf16, 64, 100)},
                  {"B", matrix(c, DType::bf16, 96, 100)},
                  {"D", matrix(c, DType::bf16, 64, 96)}},
                 c);
}

Result<Plan> copy(const Case& c) {
  return planned("copy", {{"S", matrix(c, DType::u8, 64, 100)}, {"D", matrix(c, DType::u8, 64, 100)}}, c);
}

}  // namespace

TEST_CASE("a gemm that breaks TMA's rules is served by cp.async, with the widest access its rows allow") {
  CHECK(gemm({})->file == "templates/kernels/gemm_wgmma_split.cu");
  struct Row {
    Case c;
    std::int64_t vec;
  };
  for (const Row& row : {Row{{8, 128}, 8}, Row{{0, 108}, 8}, Row{{0, 102}, 4}, Row{{0, 101}, 2}, Row{{2, 128}, 2}}) {
    const auto plan = gemm(row.c);
    REQUIRE_MESSAGE(plan.has_value(), (plan ? "" : plan.error().text()));
    CHECK(plan->file == "templates/kernels/gemm_mma_cp_async.cu");
    CHECK(std::ranges::count(plan->config, std::pair<std::string, std::int64_t>("VEC", row.vec)) == 1);
  }
}

TEST_CASE("a copy that breaks TMA's rules is served by plain loads") {
  CHECK(copy({})->file == "templates/kernels/copy_tiled.cu");
  CHECK(copy({1, 128})->file == "templates/kernels/copy_rows.cu");
  CHECK(copy({0, 101})->file == "templates/kernels/copy_rows.cu");
}

TEST_CASE("devices without TMA have gemm and copy") {
  for (const char* on : {"a100", "a10", "l4", "rtx4090"}) {
    CAPTURE(std::string(on));
    CHECK(gemm({0, 128, on})->file == "templates/kernels/gemm_mma_cp_async.cu");
    CHECK(gemm({2, 101, on})->file == "templates/kernels/gemm_mma_cp_async.cu");
    CHECK(copy({0, 128, on})->file == "templates/kernels/copy_rows.cu");
  }
}

}  // namespace tma_jit::plan
