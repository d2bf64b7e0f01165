#include "emulator/matrix/mma_sync.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "emulator/fault.h"
#include "emulator/matrix/accumulator.h"
#include "emulator/matrix/multiply.h"
#include "emulator/matrix/operand.h"
#include "emulator/number/convert.h"

namespace tma_jit::emulator::matrix {
namespace {

using number::Format;

constexpr u32 kMaxRows = 16;
constexpr u32 kColumns = 8;
constexpr u32 kMaxDepth = 256;
constexpr u32 kMaxScales = 4;

u32 elements_a(const MmaSync& instruction) {
  return instruction.a_format == Format::b1    ? 32
         : instruction.a_format == Format::f64 ? 1
                                               : elements_per_word(instruction.a_format, instruction.packed);
}

// What a register holds: 8 rows by `width` elements along K, lane after lane as they lie. A's registers alternate
// between its upper and lower eight rows where it has sixteen.
template <class T> struct Blocks {
  T a[kMaxRows * kMaxDepth];  // a block a register
  T b[kMaxDepth * kColumns];  // rows of k
  u32 a_width;
  u32 halves;

  const T* a_block(u32 half, u32 k) const { return a + (k / a_width * halves + half) * 8 * a_width + k % a_width; }
};

template <class T> void gather(const MmaSync& instruction, const MmaRegisters& registers, Blocks<T>& blocks) {
  blocks.a_width = 4 * elements_per_word(instruction.a_format, instruction.packed);
  blocks.halves = instruction.m / 8;
  for (u32 i = 0; i < registers.a.size(); ++i)
    unpack(instruction.a_format, instruction.packed, registers.a[i], kLanes, blocks.a + i * 8 * blocks.a_width);
  const u32 width = 4 * elements_per_word(instruction.b_format, instruction.packed);
  T block[kLanes * 32];
  for (u32 i = 0; i < registers.b.size(); ++i) {
    unpack(instruction.b_format, instruction.packed, registers.b[i], kLanes, block);
    T* rows = blocks.b + i * width * kColumns;
    for (u32 k = 0; k < width; ++k)
      for (u32 n = 0; n < kColumns; ++n) rows[k * kColumns + n] = block[n * width + k];
  }
}

void multiply(const Tile<float>& tile) {
  kernels().multiply_f32(tile);
}
void multiply(const Tile<s32>& tile) {
  kernels().multiply_s32(tile);
}

// sums = A * B over K from `first` on, `depth` of it.
template <class T> void multiply_range(const Blocks<T>& blocks, u32 first, u32 depth, T* sums) {
  const u32 width = std::min(blocks.a_width, depth);
  for (u32 half = 0; half < blocks.halves; ++half) {
    for (u32 k = first; k < first + depth; k += width) {
      multiply({blocks.a_block(half, k), blocks.b + k * kColumns, sums + half * 8 * kColumns, 8, kColumns, width,
                blocks.a_width, kColumns, kColumns, k != first});
    }
  }
}

// Blocks of 8 by 8 sums into D.
template <class T> void spread(const MmaSync& instruction, const MmaRegisters& registers, const T* sums) {
  const u32 step = registers_of_block(instruction.d_format);
  const u32 c_step = registers_of_block(instruction.c_format);
  for (u32 half = 0; half < instruction.m / 8; ++half) {
    if (instruction.c_format != instruction.d_format) {
      stop(FaultKind::unsupported, "mma.sync with D of {} and C of {} is not emulated",
           number::name_of(instruction.d_format), number::name_of(instruction.c_format));
    }
    accumulate({instruction.d_format, &registers.d[half * step], &registers.c[half * c_step], instruction.saturate},
               sums + half * 8 * kColumns, kColumns);
  }
}

struct Scales {
  float a[kMaxRows][kMaxScales];
  float b[kColumns][kMaxScales];
};

u8 byte_of(const u8* lanes, u32 lane, u32 byte) {
  return lanes[4 * lane + byte];
}

Scales gather_scales(const MmaSync& instruction, const MmaRegisters& registers) {
  Scales scales{};
  const auto value = [&](u8 bits) { return static_cast<float>(number::value_of(instruction.scale_format, bits)); };
  for (u32 j = 0; j < instruction.scales; ++j) {
    for (u32 row = 0; row < kMaxRows; ++row) {
      const u32 lane = row % 8 * 4 + 2 * instruction.a_thread + row / 8;
      scales.a[row][j] = value(byte_of(registers.a_scales, lane, instruction.a_byte + j));
    }
    for (u32 column = 0; column < kColumns; ++column) {
      const u32 lane = column * 4 + instruction.b_thread;
      scales.b[column][j] = value(byte_of(registers.b_scales, lane, instruction.b_byte + j));
    }
  }
  return scales;
}

// The sums of each scaled block of K, scaled, added up in the order of the blocks.
void multiply_scaled(const MmaSync& instruction, const Scales& scales, const Blocks<float>& blocks, float* total) {
  const u32 depth = instruction.k / instruction.scales;
  float sums[kMaxRows * kColumns];
  for (u32 j = 0; j < instruction.scales; ++j) {
    multiply_range(blocks, j * depth, depth, sums);
    for (u32 row = 0; row < kMaxRows; ++row) {
      for (u32 column = 0; column < kColumns; ++column) {
        const u32 at = row * kColumns + column;
        const auto scaled = static_cast<float>(double{sums[at]} * scales.a[row][j] * scales.b[column][j]);
        total[at] = j == 0 ? scaled : total[at] + scaled;
      }
    }
  }
}

template <class T> void run(const MmaSync& instruction, const MmaRegisters& registers) {
  Blocks<T> blocks;
  T sums[kMaxRows * kColumns];
  gather(instruction, registers, blocks);
  if constexpr (std::is_same_v<T, float>) {
    if (instruction.scales != 0) {
      multiply_scaled(instruction, gather_scales(instruction, registers), blocks, sums);
      return spread(instruction, registers, sums);
    }
  }
  multiply_range(blocks, 0, instruction.k, sums);
  spread(instruction, registers, sums);
}

// One word a lane at a time: bits combine before they are counted.
void run_bits(const MmaSync& instruction, const MmaRegisters& registers) {
  s32 sums[kMaxRows * kColumns] = {};
  const u32 halves = instruction.m / 8;
  for (u32 i = 0; i < registers.b.size(); ++i) {
    for (u32 row = 0; row < instruction.m; ++row) {
      for (u32 column = 0; column < kColumns; ++column) {
        for (u32 quarter = 0; quarter < 4; ++quarter) {
          const u32 left = lane_word(registers.a, i * halves + row / 8, static_cast<int>(row % 8 * 4 + quarter));
          const u32 right = lane_word(registers.b, i, static_cast<int>(column * 4 + quarter));
          const u32 bits = instruction.bits == MmaSync::Bits::xor_count ? left ^ right : left & right;
          sums[row * kColumns + column] += std::popcount(bits);
        }
      }
    }
  }
  spread(instruction, registers, sums);
}

double f64_at(Registers registers, u32 index, u32 lane) {
  double value;
  std::memcpy(&value, registers[index] + std::size_t{8} * lane, sizeof value);
  return value;
}

void run_f64(const MmaSync& instruction, const MmaRegisters& registers) {
  const u32 halves = instruction.m / 8;
  for (u32 half = 0; half < halves; ++half) {
    double sums[2][kLanes];
    for (u32 lane = 0; lane < kLanes; ++lane) {
      for (u32 parity = 0; parity < 2; ++parity) {
        double sum = f64_at(registers.c, half * 2 + parity, lane);
        for (u32 k = 0; k < instruction.k; ++k) {
          sum = std::fma(f64_at(registers.a, k / 4 * halves + half, lane / 4 * 4 + k % 4),
                         f64_at(registers.b, k / 4, (lane % 4 * 2 + parity) * 4 + k % 4), sum);
        }
        sums[parity][lane] = sum;
      }
    }
    for (u32 parity = 0; parity < 2; ++parity)
      std::memcpy(registers.d[half * 2 + parity], sums[parity], sizeof sums[parity]);
  }
}

}  // namespace

MmaCounts counts_of(const MmaSync& instruction) {
  const u32 halves = instruction.m / 8;
  const u32 groups = instruction.k / (4 * elements_a(instruction));
  return {halves * registers_of_block(instruction.d_format), halves * groups, groups,
          halves * registers_of_block(instruction.c_format)};
}

void execute(const MmaSync& instruction, const MmaRegisters& registers) {
  if (instruction.a_format == Format::f64) return run_f64(instruction, registers);
  if (instruction.a_format == Format::b1) return run_bits(instruction, registers);
  if (number::is_float(instruction.a_format)) return run<float>(instruction, registers);
  run<s32>(instruction, registers);
}

}  // namespace tma_jit::emulator::matrix
