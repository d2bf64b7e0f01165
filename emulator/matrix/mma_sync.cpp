#include "emulator/matrix/mma_sync.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "emulator/fault.h"
#include "emulator/matrix/accumulator.h"
#include "emulator/matrix/operand.h"
#include "emulator/numeric/convert.h"
#include "emulator/numeric/tensor_sum.h"

namespace tma_jit::emulator::matrix {
namespace {

using numeric::Format;

constexpr u32 kMaxRows = 16;
constexpr u32 kColumns = 8;
constexpr u32 kMaxDepth = 256;
constexpr u32 kMaxFloatDepth = 64;
constexpr u32 kMaxScales = 4;

u32 elements_a(const MmaSync& instruction) {
  return instruction.a_format == Format::b1    ? 32
         : instruction.a_format == Format::f64 ? 1
                                               : elements_per_word(instruction.a_format, instruction.packed);
}

// Returns the position of element k of K in the order of multiplication.
u32 position_of(const MmaSync& instruction, u32 k) {
  return instruction.widened ? k % 4 / 2 * (instruction.k / 2) + k / 4 * 2 + k % 2 : k;
}

// A register has 4, 8, 16 or 32 elements of a row. Copies of constant size are inlined.
template <class T> void copy_row(const T* from, u32 count, T* to) {
  switch (count) {
    case 4: std::memcpy(to, from, 4 * sizeof(T)); break;
    case 8: std::memcpy(to, from, 8 * sizeof(T)); break;
    default: std::memcpy(to, from, count * sizeof(T)); break;
  }
}

// Gathers A as rows of K. A register holds 8 rows by `width` elements along K, in lane order. If A has sixteen rows,
// its registers alternate between the upper and the lower eight.
template <class T> void gather_a(const MmaSync& instruction, Registers a, T* values) {
  T block[kLanes * 32];
  const u32 halves = instruction.m / 8;
  const u32 width = 4 * elements_per_word(instruction.a_format, instruction.packed);
  for (u32 i = 0; i < a.size(); ++i) {
    unpack(instruction.a_format, instruction.packed, a[i], kLanes, block);
    T* rows = values + i % halves * 8 * instruction.k;
    const u32 first = i / halves * width;
    if (!instruction.widened) {
      for (u32 row = 0; row < 8; ++row) copy_row(block + row * width, width, rows + row * instruction.k + first);
      continue;
    }
    for (u32 k = 0; k < width; ++k) {
      const u32 position = position_of(instruction, first + k);
      for (u32 row = 0; row < 8; ++row) rows[row * instruction.k + position] = block[row * width + k];
    }
  }
}

// Gathers B as K rows of columns.
template <class T> void gather_b(const MmaSync& instruction, Registers b, T* values) {
  T block[kLanes * 32];
  const u32 width = 4 * elements_per_word(instruction.b_format, instruction.packed);
  for (u32 i = 0; i < b.size(); ++i) {
    unpack(instruction.b_format, instruction.packed, b[i], kLanes, block);
    for (u32 k = 0; k < width; ++k) {
      T* row = values + position_of(instruction, i * width + k) * kColumns;
      for (u32 n = 0; n < kColumns; ++n) row[n] = block[n * width + k];
    }
  }
}

// A gathered floating-point factor and a copy of its registers, cached because a warp multiplies each fragment with
// many others.
class Fragment {
 public:
  struct Key {
    Format format = Format::f64;  // invalid: no cached factor has it
    bool packed = false, widened = false;
    u32 rows = 0, depth = 0;
    bool operator==(const Key&) const = default;
  };
  // Gathers the factor, unless the registers equal the cached copy.
  template <class Gather> const numeric::Factor& factor_of(const Key& key, Registers from, u32 stride, Gather gather) {
    if (key == key_ && holds(from)) return factor_;
    key_ = key;
    for (std::size_t i = 0; i < from.size(); ++i) std::memcpy(registers_[i], from[i], sizeof registers_[i]);
    gather(values_);
    factor_ = {values_, exponents_, stride};
    numeric::find_exponents(key.format, factor_, key.rows * key.depth);
    return factor_;
  }

 private:
  bool holds(Registers from) const {
    for (std::size_t i = 0; i < from.size(); ++i)
      if (std::memcmp(registers_[i], from[i], sizeof registers_[i]) != 0) return false;
    return true;
  }

  Key key_;
  numeric::Factor factor_;
  u32 registers_[4][kLanes];
  float values_[kMaxRows * kMaxFloatDepth];
  s16 exponents_[kMaxRows * kMaxFloatDepth];
};

using Fragments = std::array<Fragment, 16>;

// Returns the cache entry for the registers, chosen by the address of the first.
Fragment& fragment_of(Fragments& fragments, Registers from) {
  const u64 hash = reinterpret_cast<u64>(from[0]) * 0x9E3779B97F4A7C15;
  return fragments[hash / (~u64{0} / std::tuple_size_v<Fragments> + 1)];
}

numeric::Factor factor_a(const MmaSync& instruction, Registers a) {
  static thread_local const auto cache = std::make_unique<Fragments>();
  const Fragment::Key key{instruction.a_format, instruction.packed, instruction.widened, instruction.m, instruction.k};
  return fragment_of(*cache, a).factor_of(key, a, instruction.k,
                                          [&](float* values) { gather_a(instruction, a, values); });
}

numeric::Factor factor_b(const MmaSync& instruction, Registers b) {
  static thread_local const auto cache = std::make_unique<Fragments>();
  const Fragment::Key key{instruction.b_format, instruction.packed, instruction.widened, kColumns, instruction.k};
  return fragment_of(*cache, b).factor_of(key, b, kColumns, [&](float* values) { gather_b(instruction, b, values); });
}

// Calls `each` for each block of 8 by 8 sums with the registers of C and D that hold it.
template <class T, class Each>
void for_each_block(const MmaSync& instruction, const MmaRegisters& registers, T* sums, Each each) {
  const std::size_t step = registers_of_block(instruction.d_format);
  for (u32 half = 0; half < instruction.m / 8; ++half) {
    each({instruction.d_format, &registers.d[half * step], &registers.c[half * step], instruction.saturate},
         sums + half * 8 * kColumns);
  }
}

void load_c(const MmaSync& instruction, const MmaRegisters& registers, float* sums) {
  for_each_block(instruction, registers, sums,
                 [](const AccumulatorBlock& block, float* from) { load(block, from, kColumns); });
}

void store_d(const MmaSync& instruction, const MmaRegisters& registers, float* sums) {
  for_each_block(instruction, registers, sums,
                 [](const AccumulatorBlock& block, float* from) { store(block, from, kColumns); });
}

void add_c(const MmaSync& instruction, const MmaRegisters& registers, float* sums) {
  float c[kMaxRows * kColumns] = {};
  load_c(instruction, registers, c);
  const auto nan = std::bit_cast<float>(static_cast<u32>(numeric::canonical_nan(Format::f32)));
  for (u32 i = 0; i < instruction.m * kColumns; ++i) sums[i] = std::isnan(sums[i] + c[i]) ? nan : sums[i] + c[i];
}

// A product of floats, or a part of it along K.
struct Product {
  const MmaSync& instruction;
  numeric::Factor a, b;

  numeric::FloatTile part(u32 first, u32 depth, float* sums, bool accumulate) const {
    const u32 row = first * kColumns;
    const numeric::Factor left = {a.values + first, a.exponents + first, a.stride, a.range};
    const numeric::Factor right = {b.values + row, b.exponents + row, b.stride, b.range};
    return {left,          right,      sums,
            instruction.m, kColumns,   depth,
            kColumns,      accumulate, {.to_odd = instruction.d_format == Format::f16}};
  }
};

struct Scales {
  float a[kMaxRows][kMaxScales];
  float b[kColumns][kMaxScales];
};

u8 byte_of(const u8* lanes, u32 lane, u32 byte) {
  return lanes[4 * lane + byte];
}

Scales gather_scales(const MmaSync& instruction, const MmaRegisters& registers) {
  Scales scales{};
  const auto value = [&](u8 bits) { return static_cast<float>(numeric::value_of(instruction.scale_format, bits)); };
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

// Adds the scaled sums of the scaled blocks of K, in the order of the blocks.
void multiply_scaled(const Product& product, const Scales& scales, float* total) {
  const MmaSync& instruction = product.instruction;
  const u32 depth = instruction.k / instruction.scales;
  float sums[kMaxRows * kColumns];
  for (u32 j = 0; j < instruction.scales; ++j) {
    numeric::multiply(product.part(j * depth, depth, sums, false));
    for (u32 row = 0; row < kMaxRows; ++row) {
      for (u32 column = 0; column < kColumns; ++column) {
        const u32 at = row * kColumns + column;
        const auto scaled = static_cast<float>(double{sums[at]} * scales.a[row][j] * scales.b[column][j]);
        total[at] = j == 0 ? scaled : total[at] + scaled;
      }
    }
  }
}

void multiply_widened(const Product& product, float* sums) {
  const MmaSync& instruction = product.instruction;
  for (const u32 half : {0U, 1U}) {
    numeric::multiply(product.part(half * instruction.k / 2, instruction.k / 2, sums, half != 0));
    round_to(instruction.d_format, sums, instruction.m * kColumns);
  }
}

void run_floats(const MmaSync& instruction, const MmaRegisters& registers) {
  if (instruction.c_format != instruction.d_format) {
    throw_fault(FaultKind::unsupported, "mma.sync with D of {} and C of {} is not emulated",
                numeric::name_of(instruction.d_format), numeric::name_of(instruction.c_format));
  }
  float sums[kMaxRows * kColumns] = {};
  const Product product = {instruction, factor_a(instruction, registers.a), factor_b(instruction, registers.b)};
  if (instruction.scales != 0) {
    multiply_scaled(product, gather_scales(instruction, registers), sums);
    add_c(instruction, registers, sums);
  } else if (instruction.widened) {
    multiply_widened(product, sums);
    add_c(instruction, registers, sums);
  } else {
    load_c(instruction, registers, sums);
    numeric::multiply(product.part(0, instruction.k, sums, true));
  }
  store_d(instruction, registers, sums);
}

void add_integers(const MmaSync& instruction, const MmaRegisters& registers, const s32* sums) {
  for_each_block(instruction, registers, sums,
                 [](const AccumulatorBlock& block, const s32* from) { accumulate(block, from, kColumns); });
}

void run_integers(const MmaSync& instruction, const MmaRegisters& registers) {
  s32 a[kMaxRows * kMaxDepth], b[kMaxDepth * kColumns], sums[kMaxRows * kColumns];
  gather_a(instruction, registers.a, a);
  gather_b(instruction, registers.b, b);
  numeric::kernels().multiply_s32(
      {a, b, sums, instruction.m, kColumns, instruction.k, instruction.k, kColumns, kColumns});
  add_integers(instruction, registers, sums);
}

// Multiplies b1: combines one word per lane at a time, then counts bits.
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
  add_integers(instruction, registers, sums);
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
  if (numeric::is_float(instruction.a_format)) return run_floats(instruction, registers);
  run_integers(instruction, registers);
}

}  // namespace tma_jit::emulator::matrix
