// tcgen05.ld, .st, .cp and .shift against the layouts of the PTX ISA's figures.
#include <numeric>

#include "emulator/matrix_samples.h"

#include "emulator/fault.h"
#include "emulator/matrix/tcgen05_move.h"

using namespace tma_jit::emulator;
using namespace tma_jit::emulator::matrix;
using namespace tma_jit::testing;

namespace {

std::vector<u32> numbered() {
  std::vector<u32> tensor(std::size_t{128} * 512);
  std::iota(tensor.begin(), tensor.end(), 0U);
  return tensor;
}

struct Cell {
  u32 row, column;
};

// Row and 32-bit column of register r of lane l in a 16-row shape: a row of the figure has 64, 128 or 256 bits, divided
// among lanes. CUTLASS's layouts describe the same in strides.
Cell figure(LoadShape shape, u32 l, u32 r) {
  switch (shape) {
    case LoadShape::m32x32b: return {l, r};
    case LoadShape::m16x64b: {  // pairs of lanes take one column each of rows l / 4 and l / 4 + 8
      const u32 quad = l % 4;
      return {l / 4 + (quad % 2 == 1 ? 8U : 0U), quad / 2 + 2 * r};
    }
    case LoadShape::m16x128b: return {l / 4 + (r % 2 == 1 ? 8U : 0U), l % 4 + r / 2 * 4};
    case LoadShape::m16x256b: return {l / 4 + (r % 4 >= 2 ? 8U : 0U), l % 4 * 2 + r % 2 + r / 4 * 8};
    case LoadShape::m16x32bx2: return {l % 16, r};
  }
  return {};
}

}  // namespace

TEST_CASE("tcgen05.ld and .st: every shape and repetition, whole and packed, round trip") {
  struct Shape {
    LoadShape shape;
    u32 registers, most;
  };
  for (const Shape& s :
       {Shape{LoadShape::m32x32b, 1, 128}, Shape{LoadShape::m16x64b, 1, 128}, Shape{LoadShape::m16x128b, 2, 64},
        Shape{LoadShape::m16x256b, 4, 32}, Shape{LoadShape::m16x32bx2, 1, 64}})
    for (u32 repeat = 1; repeat <= s.most; repeat *= 2)
      for (const bool halves : {false, true})
        for (u32 warp = 0; warp < 4; ++warp)
          for (const u32 half : {0U, 16U}) {
            if (half != 0 && s.shape == LoadShape::m32x32b) continue;
            CAPTURE(repeat);
            const u32 split = 130;
            const u32 lane = warp * 32 + half;
            const u32 base = repeat >= s.most / 2 ? 0 : 7;  // packed, the largest shape takes all columns
            const TensorAccess access = {s.shape, repeat, halves, lane << 16 | base, split};
            std::vector<u32> tensor = numbered();
            const auto regions = footprint(access, warp);
            REQUIRE(registers_of(access) == s.registers * repeat);
            Bank bank(registers_of(access));
            load(access, warp, tensor.data(), bank.registers());
            const u32 step = halves ? 2 : 1;
            u32 wrong = 0;
            for (u32 r = 0; r < bank.count(); ++r)
              for (u32 l = 0; l < 32; ++l) {
                const Cell cell = figure(s.shape, l, r);
                const u32 column = base + cell.column * step + (s.shape == LoadShape::m16x32bx2 && l >= 16 ? split : 0);
                const u32 first = (lane + cell.row) * 512 + column;
                const u32 expected = halves ? (first & 0xffff) | (first + 1) << 16 : first;
                wrong += bank.word(r, l) != expected ? 1 : 0;
                bool covered = false;
                for (const Region& region : regions)
                  covered =
                      covered || (lane + cell.row >= region.lane && lane + cell.row < region.lane + region.lanes &&
                                  column >= region.column && column + step <= region.column + region.columns);
                wrong += covered ? 0 : 1;
              }
            CHECK(wrong == 0);
            std::vector<u32> copy(tensor.size(), 0xffffffff);
            store(access, warp, copy.data(), bank.registers());
            u32 cells = 0;
            for (std::size_t i = 0; i < copy.size(); ++i) {
              if (copy[i] == 0xffffffff) continue;
              ++cells;
              CHECK(copy[i] == (halves ? tensor[i] & 0xffff : tensor[i]));
            }
            CHECK(cells == bank.count() * 32 * step);
          }
}

TEST_CASE("tcgen05.ld: lane 0 means the warp's own; other warps' lanes and columns beyond are refused") {
  std::vector<u32> tensor = numbered();
  Bank bank(1);
  const TensorAccess access = {LoadShape::m32x32b, 1, false, 5, 0};
  CHECK(footprint(access, 2).front().lane == 64);
  load(access, 2, tensor.data(), bank.registers());
  CHECK(bank.word(0, 3) == 67 * 512 + 5);
  const auto kind_of = [](const TensorAccess& a, u32 warp) {
    try {
      footprint(a, warp);
    } catch (const Fault& fault) {
      return fault.kind;
    }
    return FaultKind::trap;
  };
  CHECK(kind_of({LoadShape::m32x32b, 1, false, 32U << 16, 0}, 0) == FaultKind::tensor_memory);
  CHECK(kind_of({LoadShape::m32x32b, 8, false, 505, 0}, 0) == FaultKind::tensor_memory);
  CHECK(kind_of({LoadShape::m16x64b, 1, false, 8U << 16, 0}, 0) == FaultKind::alignment);
}

TEST_CASE("tcgen05.cp: shapes, multicasts and decompression") {
  std::vector<u8> shared(65536);
  for (std::size_t i = 0; i < shared.size(); ++i) shared[i] = static_cast<u8>(i * 7 + i / 256 * 13);
  struct Shape {
    CopyShape shape;
    u32 rows, bytes;
  };
  for (const Shape& s : {Shape{CopyShape::m128x256b, 128, 32}, Shape{CopyShape::m4x256b, 4, 32},
                         Shape{CopyShape::m128x128b, 128, 16}, Shape{CopyShape::m64x128b_02_13, 64, 16},
                         Shape{CopyShape::m64x128b_01_23, 64, 16}, Shape{CopyShape::m32x128b_warpx4, 32, 16}})
    for (const auto decompression : {Decompression::none, Decompression::b4x16_p64, Decompression::b6x16_p32}) {
      // No swizzle: eight rows of 16 bytes are contiguous, chunks of a row are 4096 bytes apart.
      const u64 descriptor = u64{1024 >> 4} | u64{4096 >> 4} << 16 | u64{128 >> 4} << 32 | u64{1} << 46;
      const TensorCopy copy = {s.shape, decompression, descriptor, 9};
      std::vector<u32> tensor(std::size_t{128} * 512, 0xffffffff);
      const TensorCopyPlan planned = plan(copy, 65536);
      execute(copy, shared.data(), tensor.data());
      std::vector<u32> expected(tensor.size(), 0xffffffff);
      for (u32 row = 0; row < s.rows; ++row)
        for (u32 byte = 0; byte < s.bytes; ++byte) {
          const u8* chunk = shared.data() + 1024 + row * 16 + byte / 16 * 4096;
          u32 value = chunk[byte % 16];
          if (decompression != Decompression::none) {
            const u32 bits = decompression == Decompression::b4x16_p64 ? 4 : 6;
            value = 0;
            for (u32 i = 0; i < bits; ++i) {
              const u32 at = byte % 16 * bits + i;
              value |= (chunk[at / 8] >> at % 8 & 1U) << i;
            }
            if (bits == 4) value <<= 2;
          }
          std::vector<u32> lanes;
          switch (s.shape) {
            case CopyShape::m4x256b: lanes = {row * 32}; break;
            case CopyShape::m64x128b_02_13: lanes = {row, row + 64}; break;
            case CopyShape::m64x128b_01_23:
              lanes = row < 32 ? std::vector{row, row + 32} : std::vector{row + 32, row + 64};
              break;
            case CopyShape::m32x128b_warpx4: lanes = {row, row + 32, row + 64, row + 96}; break;
            default: lanes = {row};
          }
          for (const u32 lane : lanes)
            put_bits(reinterpret_cast<u8*>(&expected[std::size_t{lane} * 512 + 9 + byte / 4]), 8 * (byte % 4), 8,
                     value);
        }
      CHECK(tensor == expected);
      std::size_t bytes = 0;
      for (const ByteRange& span : planned.reads) bytes += span.bytes;
      const u32 read = decompression == Decompression::none        ? 16
                       : decompression == Decompression::b4x16_p64 ? 8
                                                                   : 12;  // of 16 bytes
      CHECK(bytes == std::size_t{s.rows} * s.bytes / 16 * read);
    }
  CHECK_THROWS_AS(plan({CopyShape::m128x256b, Decompression::none, u64{65520 >> 4} | u64{1} << 46, 0}, 65536), Fault);
}

TEST_CASE("tcgen05.cp brings scale factors where tcgen05.mma looks for them") {
  std::vector<u8> shared(1024);
  for (u32 row = 0; row < 128; ++row)
    for (u32 k = 0; k < 4; ++k) shared[row % 32 * 16 + row / 32 * 4 + k] = static_cast<u8>(row + k);
  std::vector<u32> tensor(std::size_t{128} * 512);
  execute({CopyShape::m32x128b_warpx4, Decompression::none, u64{128 >> 4} << 32 | u64{1} << 46, 100}, shared.data(),
          tensor.data());
  for (u32 row = 0; row < 128; ++row)
    for (u32 copy = 0; copy < 4; ++copy)
      for (u32 k = 0; k < 4; ++k)
        CHECK((tensor[(copy * 32 + row % 32) * 512 + 100 + row / 32] >> (8 * k) & 0xff) == row + k);
}

TEST_CASE("tcgen05.shift moves lanes down within each 32") {
  std::vector<u32> tensor = numbered();
  shift_down(32U << 16 | 16, tensor.data());
  for (u32 lane = 0; lane < 128; ++lane)
    for (u32 column = 0; column < 40; ++column) {
      const bool moved = lane >= 32 && lane % 32 != 31 && column >= 16 && column < 24;
      CHECK(tensor[std::size_t{lane} * 512 + column] == (lane + (moved ? 1 : 0)) * 512 + column);
    }
  CHECK_THROWS_AS(shift_footprint(16U << 16), Fault);
}
