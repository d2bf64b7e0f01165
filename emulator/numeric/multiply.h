// Multiplications of dense tiles, as vectorised loops that are compiled for the baseline architecture, x86-64-v3 and
// x86-64-v4 and selected at run time. The results do not depend on the host.
#pragma once

#include "emulator/word.h"

namespace tma_jit::emulator::numeric {

// c[m][n] = sum over k of a[m][k] * b[k][n], in integers that wrap. Rows are `*_stride` elements apart; `n` is a
// multiple of 8.
struct IntegerTile {
  const s32* a;
  const s32* b;
  s32* c;
  u32 m, n, k;
  std::size_t a_stride, b_stride, c_stride;
  bool accumulate = false;
};

// The precision of a tensor core's additions (tensor_sum.h).
struct Summation {
  int fraction = 25;     // bits kept of each addend below the largest exponent
  int significand = 24;  // bits kept of the sum
  bool to_odd = false;   // truncated sums are rounded to odd, so that they can be rounded again
};

// Properties of the values of a factor.
struct ValueRange {
  bool finite = true;
  bool near = true;  // every exponent is within kNear of 0, or the value is 0
};

// A factor: its values, row by row, and their exponents in the source format. Owned by the caller.
struct Factor {
  float* values = nullptr;
  s16* exponents = nullptr;
  std::size_t stride = 0;
  ValueRange range{};
};

// c[m][n] = sum over k of a[m][k] * b[k][n], plus the previous c[m][n] if `accumulate`. `n` is a multiple of 8.
struct FloatTile {
  Factor a, b;
  float* c = nullptr;
  u32 m = 0, n = 0, k = 0;
  std::size_t c_stride = 0;
  bool accumulate = false;
  Summation sum{};
};

constexpr int kNear = 49;             // limits exponents so that products and their scales are within f32
constexpr s16 kNoExponent = -1000;    // the exponent of zero
constexpr s32 kLeastExponent = -133;  // the least exponent to which addends are aligned

struct Values {
  const float* values;
  s16* exponents;
  u32 count;
  int least;  // exponent of the format's subnormals
};

// Half of an accumulator fragment: 8 rows by 8 columns, as m16n8 and wgmma distribute them over a warp. Lane 4 * row +
// i holds column 2 * i in `even` and column 2 * i + 1 in `odd`.
template <class Sum, class Lane> struct Block {
  Sum* sums;  // 8 rows, `stride` elements apart
  std::size_t stride;
  Lane* even;
  Lane* odd;
};

struct Kernels {
  void (*multiply_s32)(const IntegerTile& tile);
  void (*multiply_near)(const FloatTile& tile);  // requires factors and C that are near and finite
  ValueRange (*exponents)(const Values& values);
  // Returns whether C, as rows of `columns` values, `stride` apart, is finite and each value is zero or no smaller than
  // products of near factors.
  bool (*sums_are_near)(const float* values, u32 rows, u32 columns, std::size_t stride);
  void (*store_block)(const Block<const float, float>& block);  // copies sums to lanes
  void (*load_block)(const Block<float, const float>& block);   // copies lanes to sums
};

// Returns the fastest implementation that the host supports.
const Kernels& kernels();

}  // namespace tma_jit::emulator::numeric
