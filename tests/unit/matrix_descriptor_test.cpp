// Descriptors against constants worked out by hand from PTX's tables, and tiles against the canonical layouts.
#include "support/matrix_descriptor.h"

#include <set>

#include <doctest/doctest.h>

#include "plan/swizzle.h"

namespace tma_jit::plan {
namespace {

// The byte that a unit reads for element (row, k) of an operand of 16-bit elements, by the canonical layouts of PTX ISA
// 9.0, "Strides": from the descriptor alone, in units of 16 bytes.
std::uint32_t read_by_unit(const SharedMatrix& m, Major major, std::uint32_t row, std::uint32_t k) {
  const std::uint32_t width = span_of(m.swizzle);
  const std::uint32_t along = 2 * (major == Major::mn ? row : k), across = major == Major::mn ? k : row;
  if (width == 0) {
    const std::uint32_t core_along = along / 16, core_across = across / 8;
    const bool mn = major == Major::mn;
    return m.address + core_along * (mn ? m.stride : m.leading) + core_across * (mn ? m.leading : m.stride) +
           across % 8 * 16 + along % 16;
  }
  const std::uint32_t linear =
      m.address + along / width * m.leading + across / 8 * m.stride + across % 8 * width + along % width;
  return swizzled(m.swizzle, linear);
}

}  // namespace

TEST_CASE("a descriptor's bits") {
  const SharedMatrix tile{.address = 0x4400, .leading = 16, .stride = 1024, .swizzle = Swizzle::b128};
  CHECK(wgmma_descriptor(tile).value() == 0x4000004000010440U);
  CHECK(tcgen05_descriptor(tile).value() == 0x4000404000010440U);
  SharedMatrix other = tile;
  other.swizzle = Swizzle::b32;
  CHECK((wgmma_descriptor(other).value() >> 62) == 3);
  other.swizzle = Swizzle::b64;
  CHECK((wgmma_descriptor(other).value() >> 62) == 2);
  other.swizzle = Swizzle::none;
  other.base_offset = 5;
  const std::uint64_t expected = 0x0000004000010440U | std::uint64_t{5} << 49;
  CHECK(wgmma_descriptor(other).value() == expected);
}

TEST_CASE("what is written is read back") {
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
    const SharedMatrix tile{.address = 0x2F0, .leading = 0x3FFF0, .stride = 512, .base_offset = 3, .swizzle = swizzle};
    CHECK(read_wgmma_descriptor(wgmma_descriptor(tile).value()).value() == tile);
    CHECK(read_tcgen05_descriptor(tcgen05_descriptor(tile).value()).value() == tile);
  }
  CHECK(read_tcgen05_descriptor(wgmma_descriptor({}).value()).error().message ==
        "matrix descriptor: 0x0000000000000000 is of version 0, tcgen05's is 1");
  CHECK_FALSE(read_wgmma_descriptor(std::uint64_t{1} << 61).has_value());
}

TEST_CASE("fields that do not fit are refused with their values") {
  CHECK(wgmma_descriptor({.address = 8}).error().message ==
        "matrix descriptor: address 8, leading 0 and stride 0 must be multiples of 16 below 262144");
  CHECK_FALSE(wgmma_descriptor({.stride = 1U << 18}).has_value());
  CHECK_FALSE(wgmma_descriptor({.base_offset = 8}).has_value());
  CHECK_FALSE(wgmma_descriptor({.swizzle = Swizzle::b128_atom_b32}).has_value());
  CHECK((tcgen05_descriptor({.swizzle = Swizzle::b128_atom_b32}).value() >> 61) == 1);
  CHECK_FALSE(tcgen05_descriptor({.swizzle = Swizzle::b128_atom_b64}).has_value());
}

TEST_CASE("the unit reads each element where the tile has it") {
  for (const Major major : {Major::k, Major::mn}) {
    for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
      for (const std::uint32_t rows : {64U, 128U, 256U}) {
        const OperandTile tile{.major = major, .swizzle = swizzle, .rows = rows, .depth = 64};
        std::set<std::uint32_t> places;
        for (std::uint32_t from = 0; from < tile.depth; from += 16) {
          const SharedMatrix m = operand_of(tile, 0, from);
          REQUIRE(wgmma_descriptor(m).has_value());
          for (std::uint32_t row = 0; row < rows; ++row) {
            for (std::uint32_t k = 0; k < 16; ++k) {
              const std::uint32_t at = place(tile, row, from + k);
              places.insert(at);
              if (read_by_unit(m, major, row, k) != at) FAIL_CHECK("row " << row << " k " << from + k);
            }
          }
        }
        CHECK(places.size() == rows * tile.depth);
        CHECK(*places.rbegin() == rows * tile.depth * 2 - 2);
      }
    }
  }
}

TEST_CASE("instruction descriptors of tcgen05") {
  const auto bits = [](const Tcgen05Instruction& i) { return tcgen05_instruction(i).value(); };
  using Element = MmaElement;
  CHECK(bits({}) == 0x08400490);
  CHECK(bits({.n = 128}) == 0x08200490);
  CHECK(bits({.m = 256, .blocks = 2}) == 0x10400490);
  CHECK(bits({.a = Element::f16, .b = Element::f16}) == 0x08400010);
  CHECK(bits({.kind = MmaKind::tf32, .a = Element::tf32, .b = Element::tf32}) == 0x08400910);
  CHECK(bits({.kind = MmaKind::f8f6f4, .a = Element::e4m3, .b = Element::e4m3}) == 0x08400010);
  CHECK(bits({.kind = MmaKind::mxf8f6f4, .a = Element::e4m3, .b = Element::e4m3, .n = 128}) == 0x08A00000);
  CHECK(
      bits({.kind = MmaKind::mxf4nvf4, .a = Element::e2m1, .b = Element::e2m1, .n = 128, .scale = ScaleType::ue4m3}) ==
      0x08200480);
  CHECK(bits({.b_major = Major::mn}) == 0x08410490);
  CHECK(bits({.a_major = Major::mn}) == 0x08408490);
}

TEST_CASE("an instruction that PTX lacks is refused") {
  CHECK(tcgen05_instruction({.m = 64, .n = 260}).error().message ==
        "tcgen05.mma: the kind does not have this shape (m 64, n 260, 1 blocks)");
  CHECK_FALSE(tcgen05_instruction({.a = MmaElement::e4m3}).has_value());
  CHECK_FALSE(tcgen05_instruction({.m = 128, .n = 8}).has_value());
  CHECK(tcgen05_instruction({.m = 64, .n = 8}).has_value());
  CHECK_FALSE(tcgen05_instruction({.d = MmaAccumulator::s32}).has_value());
  CHECK_FALSE(tcgen05_instruction({.m = 64, .blocks = 2}).has_value());
  CHECK_FALSE(
      tcgen05_instruction({.kind = MmaKind::f8f6f4, .a = MmaElement::e2m1, .b = MmaElement::e4m3, .a_major = Major::mn})
          .has_value());
}

}  // namespace tma_jit::plan
