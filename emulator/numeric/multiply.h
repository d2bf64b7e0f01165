// The multiplications themselves, on dense tiles: plain loops over vectors, compiled for any machine, for x86-64-v3 and
// for x86-64-v4, and chosen when the program starts. A result does not depend on the machine that emulates.
#pragma once

#include "emulator/word.h"

namespace tma_jit::emulator::matrix {

// c[m][n] = sum over k of a[m][k] * b[k][n], in integers that wrap. Rows are `*_stride` elements apart; `n` is a
// multiple of 8.
struct IntegerTile {
  const s32* a;
  const s32* b;
  s32* c;
  u32 m, n, k;
  std::size_t a_stride, b_stride, c_stride;
  bool onto = false;
};

// How a tensor core adds floats up (tensor_sum.h).
struct Summation {
  int fraction = 25;     // bits kept of each addend below the largest exponent
  int significand = 24;  // bits kept of the sum
  bool to_odd = false;   // a sum that loses bits ends in one, so that it can be rounded once more
};

// What a factor's values are like.
struct Reach {
  bool finite = true;
  bool near = true;  // every exponent is within kNear of 0, or the value is 0
};

// A factor: values, row by row, and beside each the exponent that its format gives it. Owned by the caller.
struct Factor {
  float* values = nullptr;
  s16* exponents = nullptr;
  std::size_t stride = 0;
  Reach reach{};
};

// c[m][n] = sum over k of a[m][k] * b[k][n], and of c[m][n] before where `onto`. `n` is a multiple of 8.
struct FloatTile {
  Factor a, b;
  float* c = nullptr;
  u32 m = 0, n = 0, k = 0;
  std::size_t c_stride = 0;
  bool onto = false;
  Summation sum{};
};

constexpr int kNear = 49;             // products and their scales stay within f32
constexpr s16 kNoExponent = -1000;    // of zero
constexpr s32 kLeastExponent = -133;  // addends are aligned no lower

struct Values {
  const float* values;
  s16* exponents;
  u32 count;
  int least;  // exponent of the format's subnormal numbers
};

// Half a fragment of an accumulator: 8 rows by 8 columns, as m16n8 and wgmma spread them over a warp. Lane 4 * row + i
// holds columns 2 * i, in `even`, and 2 * i + 1, in `odd`.
template <class Sum, class Lane> struct Block {
  Sum* sums;  // 8 rows, `stride` apart
  std::size_t stride;
  Lane* even;
  Lane* odd;
};

struct Kernels {
  void (*multiply_s32)(const IntegerTile& tile);
  void (*multiply_near)(const FloatTile& tile);  // of factors and C that are near and finite
  Reach (*exponents)(const Values& values);
  // Of C, rows of `columns` values, `stride` apart: finite, and zero or no smaller than products of near factors.
  bool (*sums_are_near)(const float* values, u32 rows, u32 columns, std::size_t stride);
  void (*store_block)(const Block<const float, float>& block);  // the lanes become the sums
  void (*load_block)(const Block<float, const float>& block);   // the sums become the lanes
};

// The fastest that this machine runs.
const Kernels& kernels();

}  // namespace tma_jit::emulator::matrix
