// Which configuration is chosen where the memory of a tensor excludes a tensor map, of some configurations or of all.
#include "planning_fixture.h"

namespace tma_jit::plan {
namespace {

// Only a map with an interleave of 32 bytes needs an address and strides that are multiples of 32.
const std::string kInterleaved = R"(//! kernel k
//! arch sm_90a
//! dim M, N, C
//! param SPAN = 32 in {32, 64, 128}
//! param ROWS = 2 in {2, 4}
//! tensor X : f16[M, N, C] box [ROWS, 4, 16] swizzle SPAN interleave SPAN == 32 ? 32 : 0
//! launch grid 1 block 32
//! preset ROWS = 4
)";

std::string chosen(std::uint64_t address, std::int64_t pitch) {
  return config(plan(
      kInterleaved,
      {.kernel = "k", .tensors = {{"X", Tensor::strided(address, DType::f16, {4, 8, 64}, {8 * pitch, pitch, 1})}}}));
}

const std::string kBoxes = R"(//! kernel k
//! arch sm_90a
//! dim M, N
//! param ROWS = 8 in {8, 16, 512}
//! param DEPTH = 1 in {1, 2}
//! tensor X : f32[M, N] box [ROWS, 32]
//! tensor Y : f32[M, N] box [8, 32] out
//! launch grid DEPTH block 32
)";

Request boxes(std::uint64_t x, std::uint64_t y) {
  return {.kernel = "k",
          .tensors = {{"X", Tensor::row_major(x, DType::f32, {64, 32})},
                      {"Y", Tensor::row_major(y, DType::f32, {64, 32})}}};
}

}  // namespace

TEST_CASE("configurations whose map takes the tensor's address and pitch are found") {
  CHECK(chosen(0x1000, 64) == "SPAN=32 ROWS=4");
  CHECK(chosen(0x1010, 64) == "SPAN=64 ROWS=2");
  CHECK(chosen(0x1000, 72) == "SPAN=64 ROWS=2");
}

TEST_CASE("a tensor that no configuration can map is told of once, with all configurations") {
  CHECK(refusal(kBoxes, boxes(0x1004, 0x2000)) ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:6: all 6 violate  the tensor map of X\n"
        "    X: address 0x1004 is not a multiple of 16 bytes; it is 4 bytes past one");
  CHECK(refusal(kBoxes, boxes(0x1004, 0x2008)) ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:6: all 6 violate  the tensor map of X\n"
        "    X: address 0x1004 is not a multiple of 16 bytes; it is 4 bytes past one\n"
        "  k.cu:7: all 6 violate  the tensor map of Y\n"
        "    Y: address 0x2008 is not a multiple of 16 bytes; it is 8 bytes past one");
  Request pinned = boxes(0x1004, 0x2000);
  pinned.params = {{"ROWS", 512}, {"DEPTH", 1}};
  CHECK(refusal(kBoxes, pinned) ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:6: the only configuration violates  the tensor map of X\n"
        "    X: address 0x1004 is not a multiple of 16 bytes; it is 4 bytes past one");
}

TEST_CASE("a box that a map cannot have is told of where the memory is not at fault") {
  CHECK(config(plan(kBoxes, boxes(0x1000, 0x2000))) == "ROWS=8 DEPTH=1");
  Request pinned = boxes(0x1000, 0x2000);
  pinned.params = {{"ROWS", 512}};
  const std::string text = refusal(kBoxes, pinned);
  CHECK(text.find("all 2 violate  the tensor map of X") != std::string::npos);
  CHECK(text.find("address") == std::string::npos);
}

}  // namespace tma_jit::plan
