#include "emulator/matrix/tcgen05_mma.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "emulator/matrix/tcgen05_layout.h"
#include "emulator/matrix/tcgen05_operands.h"
#include "emulator/numeric/convert.h"
#include "emulator/numeric/decode_float.h"
#include "emulator/numeric/tensor_sum.h"

namespace tma_jit::emulator::matrix {
namespace {

using numeric::Format;

constexpr u32 kMaxRows = 128;  // per CTA
constexpr u32 kMaxColumns = 256;
constexpr u32 kMaxDepth = 64;
constexpr u32 kMaxScales = 4;

template <class T> void negate(T* values, u32 count) {
  for (u32 i = 0; i < count; ++i) values[i] = -values[i];
}

// Buffers of one multiplication; T is the type of the sums.
template <class T> struct Tiles {
  T a[kMaxRows * kMaxDepth];
  T b[kMaxDepth * kMaxColumns];
  T gathered[kMaxDepth * (kMaxColumns + 32)];  // a zero-column mask may shift by 32
  T sums[kMaxRows * kMaxColumns];
  s16 a_exponents[kMaxRows * kMaxDepth];  // of floating-point factors
  s16 b_exponents[kMaxDepth * kMaxColumns];
  float partial[kMaxRows * kMaxColumns];
  float b_scales[kMaxColumns];
};

// The execution of one instruction, one CTA after the other.
template <class T> class Execution {
 public:
  Execution(const TensorMma& mma, const InstructionDescriptor& instruction, std::span<const CtaMemory> ctas)
      : mma_(mma), instruction_(instruction), ctas_(ctas), path_(data_path(mma.form, instruction.m)) {
    // Too large for the stack of an application's thread, and for an allocation per instruction.
    static thread_local const auto tiles = std::make_unique<Tiles<T>>();
    tiles_ = tiles.get();
  }

  void run() {
    gather_b();
    for (u32 cta = 0; cta < ctas_.size(); ++cta) {
      if (!mma_.a_in_tensor) gather(operand_a(mma_, instruction_), ctas_[cta].shared, Order::rows, tiles_->a);
      for (u32 part = 0; part < path_.parts; ++part) run_part(cta, part);
    }
  }

 private:
  u32 part_columns() const { return instruction_.n / path_.parts; }

  // Gathers all of B as K rows of N columns. Each CTA provides a part of the columns.
  void gather_b() {
    const Operand operand = operand_b(mma_, instruction_);
    const u32 share = instruction_.n / mma_.form.cta_group;
    for (u32 cta = 0; cta < ctas_.size(); ++cta) {
      gather(operand, ctas_[cta].shared, Order::columns, tiles_->gathered);
      for (u32 k = 0; k < instruction_.k; ++k) {
        const T* from = tiles_->gathered + k * operand.rows;
        T* to = tiles_->b + k * instruction_.n + cta * share;
        if (!mma_.zero_columns) {
          std::copy_n(from, share, to);
          continue;
        }
        for (u32 column = 0; column < share; ++column) {
          const auto source = source_column(*mma_.zero_columns, instruction_, column);
          to[column] = source ? from[*source] : T{0};
        }
      }
    }
    if (instruction_.negate_a != instruction_.negate_b) negate(tiles_->b, instruction_.k * instruction_.n);
  }

  // Each part of the data path reads A from its own lanes.
  void gather_tensor_a(u32 cta, u32 part) {
    const auto address = static_cast<u32>(mma_.a);
    const u32 words = words_of_row(mma_.form.kind, instruction_);
    for (u32 row = 0; row < path_.rows; ++row) {
      const u32* from = word_at(ctas_[cta].tensor, lane_of(address) + path_.lane(part, row), column_of(address));
      unpack(instruction_.a, is_packed(mma_.form.kind), reinterpret_cast<const u8*>(from), words,
             tiles_->a + row * instruction_.k);
    }
  }

  void run_part(u32 cta, u32 part) {
    if (mma_.a_in_tensor) gather_tensor_a(cta, part);
    if constexpr (std::is_same_v<T, s32>) {
      const u32 columns = part_columns();
      numeric::kernels().multiply_s32({tiles_->a, tiles_->b + part * columns, tiles_->sums, path_.rows, columns,
                                       instruction_.k, instruction_.k, instruction_.n, columns});
    } else {
      multiply_floats(cta, part);
    }
    for (u32 row = 0; row < path_.rows; ++row)
      if (is_enabled(cta, part, row)) store_row(row_of_d(cta, part, row), tiles_->sums + row * part_columns());
  }

  void multiply_floats(u32 cta, u32 part) {
    const u32 columns = part_columns();
    const std::size_t first = std::size_t{part} * columns;
    numeric::FloatTile tile = {.a = {tiles_->a, tiles_->a_exponents, instruction_.k},
                               .b = {tiles_->b, tiles_->b_exponents, instruction_.n},
                               .c = tiles_->sums,
                               .m = path_.rows,
                               .n = columns,
                               .k = instruction_.k,
                               .c_stride = columns,
                               .accumulate = mma_.accumulate,
                               .sum = {.to_odd = instruction_.d == Format::f16}};
    numeric::find_exponents(instruction_.a, tile.a, tile.m * tile.k);
    numeric::find_exponents(instruction_.b, tile.b, tile.k * instruction_.n);
    tile.b.values += first;
    tile.b.exponents += first;
    if (is_scaled(mma_.form.kind)) return multiply_scaled(cta, part, tile);
    for (u32 row = 0; mma_.accumulate && row < path_.rows; ++row)
      load_row(row_of_d(cta, part, row), tile.c + row * tile.c_stride);
    numeric::multiply(tile);
  }

  // The scale factors of a row are in the 32 lanes of tensor memory that contain its part of D.
  float scale_at(u32 cta, u32 address, u32 lane, u32 index, u32 byte) const {
    const u32 base = scale_address(address);
    const u32 word = *word_at(ctas_[cta].tensor, lane / 32 * 32 + index % 32, column_of(base) + index / 32);
    return static_cast<float>(numeric::value_of(instruction_.scale, (word >> (8 * byte)) & 0xff));
  }

  void multiply_scaled(u32 cta, u32 part, numeric::FloatTile tile) {
    float* total = tile.c;
    tile.c = tiles_->partial;
    tile.k = instruction_.k / mma_.form.scale_vector;
    tile.accumulate = false;
    for (u32 block = 0; block < mma_.form.scale_vector; ++block) {
      numeric::multiply(tile);
      for (u32 row = 0; row < path_.rows; ++row) add_scaled_row(cta, part, row, block, total);
      tile.a.values += tile.k;
      tile.a.exponents += tile.k;
      tile.b.values += std::size_t{tile.k} * instruction_.n;
      tile.b.exponents += std::size_t{tile.k} * instruction_.n;
    }
    if (!mma_.accumulate) return;
    for (u32 row = 0; row < path_.rows; ++row) {
      load_row(row_of_d(cta, part, row), tile.c);
      for (u32 i = 0; i < tile.n; ++i) total[row * tile.n + i] += tile.c[i];
    }
  }

  void add_scaled_row(u32 cta, u32 part, u32 row, u32 block, float* total) {
    const u32 lane = path_.lane(part, row);
    const u32 columns = part_columns();
    if (lane % 32 == 0 || path_.rows < 32) {  // each group of 32 lanes has its own copies of B's scale factors
      for (u32 column = 0; column < columns; ++column) {
        tiles_->b_scales[column] =
            scale_at(cta, mma_.b_scales, lane, part * columns + column, instruction_.b_scale_id + block);
      }
    }
    const double a_scale = scale_at(cta, mma_.a_scales, lane, row, instruction_.a_scale_id + block);
    const float* from = tiles_->partial + std::size_t{row} * columns;
    float* to = total + std::size_t{row} * columns;
    for (u32 column = 0; column < columns; ++column) {
      const auto scaled = static_cast<float>(double{from[column]} * a_scale * double{tiles_->b_scales[column]});
      to[column] = block == 0 ? scaled : to[column] + scaled;
    }
  }

  u32 lane_of_d(u32 part, u32 row) const { return path_.lane(part, row) + lane_of(mma_.d); }
  bool is_enabled(u32 cta, u32 part, u32 row) const {
    const u32 lane = lane_of_d(part, row);
    return ((mma_.disabled_lanes[cta * 4 + lane / 32] >> (lane % 32)) & 1) == 0;
  }
  u32* row_of_d(u32 cta, u32 part, u32 row) const {
    return word_at(ctas_[cta].tensor, lane_of_d(part, row), column_of(mma_.d));
  }

  // An f16 is in the lower half of a word.
  void load_row(const u32* words, float* sums) const {
    if (instruction_.d != Format::f16 && mma_.scale_input == 0) {
      std::memcpy(sums, words, part_columns() * sizeof(float));
      return;
    }
    const float factor = std::ldexp(1.0F, -static_cast<int>(mma_.scale_input));
    for (u32 i = 0; i < part_columns(); ++i) {
      const float before = instruction_.d == Format::f16
                               ? static_cast<float>(numeric::value_of(Format::f16, words[i] & 0xffff))
                               : std::bit_cast<float>(words[i]);
      sums[i] = before * factor;
    }
  }

  void store_row(u32* words, const T* sums) const {
    if constexpr (std::is_same_v<T, s32>) {
      store_integers(sums, words);
    } else if (instruction_.d == Format::f16) {
      for (u32 i = 0; i < part_columns(); ++i)
        words[i] = static_cast<u32>(numeric::nearest(Format::f16, double{sums[i]}));
    } else {
      std::memcpy(words, sums, part_columns() * sizeof(float));
    }
  }

  void store_integers(const s32* sums, u32* words) const {
    using Limits = std::numeric_limits<s32>;
    for (u32 i = 0; i < part_columns(); ++i) {
      s64 sum = s64{sums[i]} + (mma_.accumulate ? static_cast<s32>(words[i]) : 0);
      if (instruction_.saturate) sum = std::clamp<s64>(sum, Limits::min(), Limits::max());
      words[i] = static_cast<u32>(static_cast<u64>(sum));
    }
  }

  const TensorMma& mma_;
  const InstructionDescriptor& instruction_;
  std::span<const CtaMemory> ctas_;
  const DataPath path_;
  Tiles<T>* tiles_;
};

}  // namespace

void execute(const TensorMma& mma, const InstructionDescriptor& instruction, std::span<const CtaMemory> ctas) {
  if (mma.form.kind == MmaKind::i8) {
    Execution<s32>(mma, instruction, ctas).run();
  } else {
    Execution<float>(mma, instruction, ctas).run();
  }
}

}  // namespace tma_jit::emulator::matrix
