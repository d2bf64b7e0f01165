#include "emulator/matrix/wgmma.h"

#include "emulator/fault.h"
#include "emulator/matrix/accumulator.h"
#include "emulator/numeric/tensor_sum.h"

namespace tma_jit::emulator::matrix {
namespace {

using numeric::Format;

constexpr u32 kRows = 64;
constexpr u32 kWarps = 4;
constexpr u32 kMaxColumns = 256;
constexpr u32 kMaxDepth = 32;

Operand operand_a(const Wgmma& instruction) {
  return {decode_wgmma(instruction.a_descriptor),
          instruction.a_format,
          instruction.a_major,
          kRows,
          depth_of(instruction),
          false};
}

Operand operand_b(const Wgmma& instruction) {
  return {decode_wgmma(instruction.b_descriptor),
          instruction.b_format,
          instruction.b_major,
          instruction.n,
          depth_of(instruction),
          false};
}

// A fragment of A: each of a warp's four registers holds a block of 8 rows by half of K, rows first.
template <class T> void gather_registers(const Wgmma& instruction, Registers a, T* out) {
  const u32 depth = depth_of(instruction);
  const u32 half = depth / 2;
  T block[kLanes * 4];
  for (u32 i = 0; i < a.size(); ++i) {
    unpack(instruction.a_format, false, a[i], kLanes, block);
    const u32 row = i / 4 * 16 + i % 2 * 8;
    const u32 column = i / 2 % 2 * half;
    for (u32 r = 0; r < 8; ++r)
      for (u32 k = 0; k < half; ++k) out[(row + r) * depth + column + k] = block[r * half + k];
  }
}

// Calls `each` for each block of 8 by 8 sums with the registers that hold it.
template <class T, class Each> void for_each_block(const Wgmma& instruction, T* sums, Registers d, Each each) {
  const u32 per_warp = accumulator_registers(instruction);
  const u32 per_block = registers_of_block(instruction.accumulator);
  for (u32 warp = 0; warp < kWarps; ++warp) {
    for (u32 i = 0; i < per_warp; i += per_block) {
      // Blocks alternate between the upper and the lower eight rows of a warp.
      const std::size_t row = warp * 16 + i / per_block % 2 * 8;
      const u32 column = i / per_block / 2 * 8;
      u8* const* target = &d[warp * per_warp + i];
      each({instruction.accumulator, target, instruction.accumulate ? target : nullptr, instruction.saturate},
           sums + row * instruction.n + column);
    }
  }
}

template <class T> struct Tiles {
  T a[kRows * kMaxDepth];
  T b[kMaxColumns * kMaxDepth];
  T sums[kRows * kMaxColumns];
};

template <class T> void gather_factors(const Wgmma& instruction, const u8* shared, Registers a, Tiles<T>& tiles) {
  const u32 depth = depth_of(instruction);
  if (instruction.a_in_registers) {
    gather_registers(instruction, a, tiles.a);
  } else {
    gather(operand_a(instruction), shared, Order::rows, tiles.a);
  }
  gather(operand_b(instruction), shared, Order::columns, tiles.b);
  if (instruction.negate_a != instruction.negate_b)
    for (u32 i = 0; i < kRows * depth; ++i) tiles.a[i] = -tiles.a[i];
}

numeric::Summation summation_of(const Wgmma& instruction) {
  const bool short_floats = numeric::bits_of(instruction.b_format) == 8;
  if (instruction.accumulator == Format::f16) return {.fraction = short_floats ? 13 : 25, .to_odd = true};
  return short_floats ? numeric::Summation{.fraction = 13, .significand = 14} : numeric::Summation{};
}

void run_floats(const Wgmma& instruction, const u8* shared, Registers a, Registers d) {
  static thread_local Tiles<float> tiles;
  static thread_local s16 a_exponents[kRows * kMaxDepth];
  static thread_local s16 b_exponents[kMaxColumns * kMaxDepth];
  const u32 depth = depth_of(instruction), n = instruction.n;
  gather_factors(instruction, shared, a, tiles);
  numeric::Factor left = {tiles.a, a_exponents, depth}, right = {tiles.b, b_exponents, n};
  numeric::find_exponents(instruction.a_format, left, kRows * depth);
  numeric::find_exponents(instruction.b_format, right, depth * n);
  if (instruction.accumulate) {
    for_each_block(instruction, tiles.sums, d,
                   [&](const AccumulatorBlock& block, float* sums) { load(block, sums, n); });
  }
  numeric::multiply({left, right, tiles.sums, kRows, n, depth, n, instruction.accumulate, summation_of(instruction)});
  for_each_block(instruction, tiles.sums, d,
                 [&](const AccumulatorBlock& block, float* sums) { store(block, sums, n); });
}

void run_integers(const Wgmma& instruction, const u8* shared, Registers a, Registers d) {
  static thread_local Tiles<s32> tiles;
  const u32 depth = depth_of(instruction), n = instruction.n;
  gather_factors(instruction, shared, a, tiles);
  numeric::kernels().multiply_s32({tiles.a, tiles.b, tiles.sums, kRows, n, depth, depth, n, n});
  for_each_block(instruction, tiles.sums, d,
                 [&](const AccumulatorBlock& block, const s32* sums) { accumulate(block, sums, n); });
}

}  // namespace

u32 depth_of(const Wgmma& instruction) {
  return 256 / static_cast<u32>(numeric::bits_of(instruction.b_format));
}

u32 accumulator_registers(const Wgmma& instruction) {
  return instruction.n / 8 * 2 * registers_of_block(instruction.accumulator);
}

void append_common_footprint(const Wgmma& instruction, u32 size, std::vector<ByteRange>& spans) {
  if (instruction.n == 0 || instruction.n % 8 != 0 || instruction.n > kMaxColumns)
    throw_fault(FaultKind::unsupported, "wgmma has no shape with {} columns", instruction.n);
  if (!instruction.a_in_registers && instruction.a_major == Major::mn)
    append_footprint(operand_a(instruction), size, spans);
  append_footprint(operand_b(instruction), size, spans);
}

void append_own_footprint(const Wgmma& instruction, u32 warp, u32 size, std::vector<ByteRange>& spans) {
  if (instruction.a_in_registers || instruction.a_major == Major::mn) return;
  Operand rows = operand_a(instruction);
  rows.rows = kRows / kWarps;
  rows.descriptor.start += warp * (rows.rows / 8) * rows.descriptor.stride;
  append_footprint(rows, size, spans);
}

void execute(const Wgmma& instruction, const u8* shared, Registers a, Registers d) {
  if (instruction.accumulator == Format::s32) {
    run_integers(instruction, shared, a, d);
  } else {
    run_floats(instruction, shared, a, d);
  }
}

}  // namespace tma_jit::emulator::matrix
