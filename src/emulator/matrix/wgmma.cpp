#include "emulator/matrix/wgmma.h"

#include "emulator/fault.h"
#include "emulator/matrix/accumulator.h"
#include "emulator/matrix/multiply.h"

namespace tma_jit::emulator::matrix {
namespace {

using number::Format;

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

// A fragment of A: of each warp's four registers, a block of 8 rows by half of K each, rows first.
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

void multiply(const Tile<float>& tile) {
  kernels().multiply_f32(tile);
}
void multiply(const Tile<s32>& tile) {
  kernels().multiply_s32(tile);
}

template <class T> void spread(const Wgmma& instruction, const T* sums, Registers d) {
  const u32 per_warp = accumulator_registers(instruction);
  const u32 per_block = registers_of_block(instruction.accumulator);
  for (u32 warp = 0; warp < kWarps; ++warp) {
    for (u32 i = 0; i < per_warp; i += per_block) {
      // Blocks alternate between the warp's upper and lower eight rows.
      const std::size_t row = warp * 16 + i / per_block % 2 * 8;
      const u32 column = i / per_block / 2 * 8;
      u8* const* target = &d[warp * per_warp + i];
      accumulate({instruction.accumulator, target, instruction.accumulate ? target : nullptr, instruction.saturate},
                 sums + row * instruction.n + column, instruction.n);
    }
  }
}

template <class T> void run(const Wgmma& instruction, const u8* shared, Registers a, Registers d) {
  static thread_local T left[kRows * kMaxDepth];
  static thread_local T right[kMaxColumns * kMaxDepth];
  static thread_local T sums[kRows * kMaxColumns];
  const u32 depth = depth_of(instruction);
  if (instruction.a_in_registers) {
    gather_registers(instruction, a, left);
  } else {
    gather(operand_a(instruction), shared, Order::rows, left);
  }
  gather(operand_b(instruction), shared, Order::columns, right);
  if (instruction.negate_a != instruction.negate_b)
    for (u32 i = 0; i < kRows * depth; ++i) left[i] = -left[i];
  multiply({left, right, sums, kRows, instruction.n, depth, depth, instruction.n, instruction.n});
  spread(instruction, sums, d);
}

}  // namespace

u32 depth_of(const Wgmma& instruction) {
  return 256 / static_cast<u32>(number::bits_of(instruction.b_format));
}

u32 accumulator_registers(const Wgmma& instruction) {
  return instruction.n / 8 * 2 * registers_of_block(instruction.accumulator);
}

void append_footprint(const Wgmma& instruction, u32 size, std::vector<Span>& spans) {
  if (instruction.n == 0 || instruction.n % 8 != 0 || instruction.n > kMaxColumns)
    stop(FaultKind::unsupported, "wgmma has no shape with {} columns", instruction.n);
  if (!instruction.a_in_registers) append_footprint(operand_a(instruction), size, spans);
  append_footprint(operand_b(instruction), size, spans);
}

void execute(const Wgmma& instruction, const u8* shared, Registers a, Registers d) {
  if (instruction.accumulator == Format::s32) {
    run<s32>(instruction, shared, a, d);
  } else {
    run<float>(instruction, shared, a, d);
  }
}

}  // namespace tma_jit::emulator::matrix
