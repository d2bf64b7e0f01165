#include "emulator/numeric/tensor_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "emulator/numeric/convert.h"

namespace tma_jit::emulator::numeric {
namespace {

int exponent_of(float value) {
  return value == 0 ? kNoExponent : std::max(std::ilogb(value), -126);
}

double cut(double sum, const Summation& how) {
  const u64 lost = (u64{1} << (53 - how.significand)) - 1;
  u64 bits = std::bit_cast<u64>(sum);
  if (how.to_odd && (bits & lost) != 0) bits |= lost + 1;
  return std::bit_cast<double>(bits & ~lost);
}

// Computes one sum for arbitrary values. Products and sums are exact in f64: a factor has at most 11 significant bits,
// and a sum at most 40.
float sum_at(const FloatTile& tile, u32 row, u32 column) {
  const float before = tile.accumulate ? tile.c[row * tile.c_stride + column] : 0.0F;
  const auto a = [&](u32 k) { return row * tile.a.stride + k; };
  const auto b = [&](u32 k) { return k * tile.b.stride + column; };
  int top = std::max(exponent_of(before), kLeastExponent);
  double plain = before;
  for (u32 k = 0; k < tile.k; ++k) {
    plain += double{tile.a.values[a(k)]} * double{tile.b.values[b(k)]};
    top = std::max(top, tile.a.exponents[a(k)] + tile.b.exponents[b(k)]);
  }
  if (std::isnan(plain)) return std::bit_cast<float>(static_cast<u32>(canonical_nan(Format::f32)));
  if (std::isinf(plain)) return static_cast<float>(plain);
  const int shift = tile.sum.fraction - top;
  double total = std::trunc(std::ldexp(double{before}, shift));
  for (u32 k = 0; k < tile.k; ++k)
    total += std::trunc(std::ldexp(double{tile.a.values[a(k)]} * double{tile.b.values[b(k)]}, shift));
  constexpr int kFinest = 149;  // exponent of the last bit of f32's subnormals, negated
  const double sum = std::ldexp(cut(total, tile.sum), kFinest - shift);
  return static_cast<float>(std::ldexp(std::trunc(sum), -kFinest)) + 0.0F;  // -0 becomes +0
}

void multiply_any(const FloatTile& tile) {
  for (u32 row = 0; row < tile.m; ++row)
    for (u32 column = 0; column < tile.n; ++column) tile.c[row * tile.c_stride + column] = sum_at(tile, row, column);
}

bool is_near(const FloatTile& tile) {
  const bool joined = tile.c_stride == tile.n;
  return kernels().sums_are_near(tile.c, joined ? 1 : tile.m, joined ? tile.m * tile.n : tile.n, tile.c_stride);
}

}  // namespace

void find_exponents(Format format, Factor& factor, u32 count) {
  factor.range = kernels().exponents({factor.values, factor.exponents, count, 1 - layout_of(format).bias});
}

void multiply(const FloatTile& tile) {
  const bool near = tile.a.range.near && tile.b.range.near && tile.a.range.finite && tile.b.range.finite;
  if (!near || (tile.accumulate && !is_near(tile))) return multiply_any(tile);
  kernels().multiply_near(tile);
}

}  // namespace tma_jit::emulator::numeric
