#include "emulator/matrix/tcgen05_mma.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "emulator/matrix/multiply.h"
#include "emulator/matrix/tcgen05_layout.h"
#include "emulator/matrix/tcgen05_operands.h"
#include "emulator/number/convert.h"
#include "emulator/number/decode.h"

namespace tma_jit::emulator::matrix {
namespace {

using number::Format;

constexpr u32 kMaxRows = 128;  // a CTA's
constexpr u32 kMaxColumns = 256;
constexpr u32 kMaxDepth = 64;
constexpr u32 kMaxScales = 4;

void multiply(const Tile<float>& tile) {
  kernels().multiply_f32(tile);
}
void multiply(const Tile<s32>& tile) {
  kernels().multiply_s32(tile);
}

template <class T> void negate(T* values, u32 count) {
  for (u32 i = 0; i < count; ++i) values[i] = -values[i];
}

// T is what products are summed in.
template <class T> struct Tiles {
  T a[kMaxRows * kMaxDepth];
  T b[kMaxDepth * kMaxColumns];
  T gathered[kMaxDepth * (kMaxColumns + 32)];  // a zero-column mask may shift by 32
  T sums[kMaxRows * kMaxColumns];
  float partial[kMaxRows * kMaxColumns];
  float b_scales[kMaxColumns];
};

// One instruction on its way through one CTA after the other.
template <class T> class Execution {
 public:
  Execution(const TensorMma& mma, const InstructionDescriptor& instruction, std::span<const CtaMemory> ctas)
      : mma_(mma), instruction_(instruction), ctas_(ctas), path_(data_path(mma.form, instruction.m)) {
    // Too large for the stack of a thread that the application made, and for an allocation each time.
    static thread_local const auto tiles = std::make_unique<Tiles<T>>();
    a_ = tiles->a;
    b_ = tiles->b;
    gathered_ = tiles->gathered;
    sums_ = tiles->sums;
    partial_ = tiles->partial;
    b_scales_ = tiles->b_scales;
  }

  void run() {
    gather_b();
    for (u32 cta = 0; cta < ctas_.size(); ++cta) {
      if (!mma_.a_in_tensor) gather(operand_a(mma_, instruction_), ctas_[cta].shared, Order::rows, a_);
      for (u32 part = 0; part < path_.parts; ++part) run_part(cta, part);
    }
  }

 private:
  u32 part_columns() const { return instruction_.n / path_.parts; }

  // All of B as K rows of N columns; each CTA has its share of the columns.
  void gather_b() {
    const Operand operand = operand_b(mma_, instruction_);
    const u32 share = instruction_.n / mma_.form.cta_group;
    for (u32 cta = 0; cta < ctas_.size(); ++cta) {
      gather(operand, ctas_[cta].shared, Order::columns, gathered_);
      for (u32 k = 0; k < instruction_.k; ++k) {
        const T* from = gathered_ + k * operand.rows;
        T* to = b_ + k * instruction_.n + cta * share;
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
    if (instruction_.negate_a != instruction_.negate_b) negate(b_, instruction_.k * instruction_.n);
  }

  // Each part of the data path reads A from its own lanes.
  void gather_tensor_a(u32 cta, u32 part) {
    const auto address = static_cast<u32>(mma_.a);
    const u32 words = words_of_row(mma_.form.kind, instruction_);
    for (u32 row = 0; row < path_.rows; ++row) {
      const u32* from = word_at(ctas_[cta].tensor, lane_of(address) + path_.lane(part, row), column_of(address));
      unpack(instruction_.a, is_packed(mma_.form.kind), reinterpret_cast<const u8*>(from), words,
             a_ + row * instruction_.k);
    }
  }

  void run_part(u32 cta, u32 part) {
    if (mma_.a_in_tensor) gather_tensor_a(cta, part);
    const u32 columns = part_columns();
    Tile<T> tile = {
        a_, b_ + part * columns, sums_, path_.rows, columns, instruction_.k, instruction_.k, instruction_.n, columns};
    if (is_scaled(mma_.form.kind)) {
      if constexpr (std::is_same_v<T, float>) multiply_scaled(cta, part, tile);
    } else {
      multiply(tile);
    }
    for (u32 row = 0; row < path_.rows; ++row) store_row(cta, path_.lane(part, row), sums_ + row * columns);
  }

  // A row's scale factors lie in the 32 lanes of tensor memory that its part of D belongs to.
  float scale_at(u32 cta, u32 address, u32 lane, u32 index, u32 byte) const {
    const u32 place = scale_address(address);
    const u32 word = *word_at(ctas_[cta].tensor, lane / 32 * 32 + index % 32, column_of(place) + index / 32);
    return static_cast<float>(number::value_of(instruction_.scale, (word >> (8 * byte)) & 0xff));
  }

  void multiply_scaled(u32 cta, u32 part, Tile<float> tile) {
    const u32 depth = instruction_.k / mma_.form.scale_vector;
    float* total = tile.c;
    tile.c = partial_;
    tile.k = depth;
    for (u32 block = 0; block < mma_.form.scale_vector; ++block) {
      multiply(tile);
      for (u32 row = 0; row < path_.rows; ++row) add_scaled_row(cta, part, row, block, total);
      tile.a += depth;
      tile.b += std::size_t{depth} * instruction_.n;
    }
  }

  void add_scaled_row(u32 cta, u32 part, u32 row, u32 block, float* total) {
    const u32 lane = path_.lane(part, row);
    const u32 columns = part_columns();
    if (lane % 32 == 0 || path_.rows < 32) {  // the next 32 lanes have copies of B's factors of their own
      for (u32 column = 0; column < columns; ++column) {
        b_scales_[column] =
            scale_at(cta, mma_.b_scales, lane, part * columns + column, instruction_.b_scale_id + block);
      }
    }
    const double a_scale = scale_at(cta, mma_.a_scales, lane, row, instruction_.a_scale_id + block);
    const float* from = partial_ + std::size_t{row} * columns;
    float* to = total + std::size_t{row} * columns;
    for (u32 column = 0; column < columns; ++column) {
      const auto scaled = static_cast<float>(double{from[column]} * a_scale * double{b_scales_[column]});
      to[column] = block == 0 ? scaled : to[column] + scaled;
    }
  }

  void store_row(u32 cta, u32 lane, const T* sums) {
    lane += lane_of(mma_.d);
    if (((mma_.disabled_lanes[cta * 4 + lane / 32] >> (lane % 32)) & 1) != 0) return;
    u32* words = word_at(ctas_[cta].tensor, lane, column_of(mma_.d));
    if constexpr (std::is_same_v<T, s32>) {
      store_integers(sums, words);
    } else if (instruction_.d == Format::f16) {
      store_halves(sums, words);
    } else {
      store_floats(sums, words);
    }
  }

  void store_floats(const float* sums, u32* words) const {
    const u32 columns = part_columns();
    auto* row = reinterpret_cast<float*>(words);
    if (!mma_.accumulate) {
      std::memcpy(row, sums, columns * sizeof(float));
      return;
    }
    if (mma_.scale_input != 0) {
      const float factor = std::ldexp(1.0F, -static_cast<int>(mma_.scale_input));
      for (u32 i = 0; i < columns; ++i) row[i] *= factor;
    }
    kernels().add_row(sums, row, columns);
  }

  // An f16 takes the lower half of a word.
  void store_halves(const float* sums, u32* words) const {
    const double factor = std::ldexp(1.0, -static_cast<int>(mma_.scale_input));
    for (u32 i = 0; i < part_columns(); ++i) {
      const double before = mma_.accumulate ? number::value_of(Format::f16, words[i] & 0xffff) * factor : 0.0;
      words[i] = static_cast<u32>(number::nearest(Format::f16, static_cast<double>(sums[i]) + before));
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
  T* a_;
  T* b_;
  T* gathered_;
  T* sums_;
  float* partial_;
  float* b_scales_;
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
