// The text of the multiplications, included once for each instruction set in a namespace of its own. No other header's
// functions may be used here: the linker could keep this file's copies for machines that cannot run them.
// NOLINTBEGIN(misc-definitions-in-headers)

using V8 = float __attribute__((vector_size(32)));
using I8 = int __attribute__((vector_size(32)));
using S8 = short __attribute__((vector_size(16)));
using V4 = float __attribute__((vector_size(16)));
using I4 = int __attribute__((vector_size(16)));

// Rows are aligned to one element only.
template <class Vector, class T> static inline __attribute__((always_inline)) void load(const T* from, Vector& to) {
  __builtin_memcpy(&to, from, sizeof to);
}
template <class Vector, class T> static inline __attribute__((always_inline)) void store(const Vector& from, T* to) {
  __builtin_memcpy(to, &from, sizeof from);
}
template <class To, class From> static inline __attribute__((always_inline)) void bits_of(const From& from, To& to) {
  __builtin_memcpy(&to, &from, sizeof to);
}

// Multiplies kRows rows by 8 * kVectors columns, with the sums in registers throughout k.
template <int kRows, int kVectors>
static inline __attribute__((always_inline)) void multiply_block(const IntegerTile& tile, u32 row, u32 column) {
  I8 sums[kRows][kVectors] = {};
  s32* c = tile.c + row * tile.c_stride + column;
  if (tile.accumulate) {
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < kVectors; ++j) load(c + i * tile.c_stride + 8 * j, sums[i][j]);
    }
  }
  const s32* a = tile.a + row * tile.a_stride;
  const s32* b = tile.b + column;
  for (u32 k = 0; k < tile.k; ++k, b += tile.b_stride) {
    I8 values[kVectors];
    for (std::size_t j = 0; j < kVectors; ++j) load(b + 8 * j, values[j]);
    for (std::size_t i = 0; i < kRows; ++i) {
      const s32 factor = a[i * tile.a_stride + k];
      for (std::size_t j = 0; j < kVectors; ++j) sums[i][j] += factor * values[j];
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kVectors; ++j) store(sums[i][j], c + i * tile.c_stride + 8 * j);
  }
}

template <int kRows> static inline __attribute__((always_inline)) void multiply_rows(const IntegerTile& tile, u32 row) {
  u32 column = 0;
  for (; column + 16 <= tile.n; column += 16) multiply_block<kRows, 2>(tile, row, column);
  if (column < tile.n) multiply_block<kRows, 1>(tile, row, column);
}

static void multiply_s32(const IntegerTile& tile) {
  u32 row = 0;
  for (; row + 4 <= tile.m; row += 4) multiply_rows<4>(tile, row);
  for (; row < tile.m; ++row) multiply_rows<1>(tile, row);
}

#include "emulator/numeric/tensor_sum_body.h"

// Calls `each` for eight values at a time; the last vector is padded with zeros.
template <class Each>
static inline __attribute__((always_inline)) void for_eights(const float* values, u32 count, Each each) {
  u32 at = 0;
  I8 bits;
  for (; at + 8 <= count; at += 8) {
    load(values + at, bits);
    each(at, 8U, bits);
  }
  if (at == count) return;
  bits = I8{};
  __builtin_memcpy(&bits, values + at, (count - at) * sizeof(float));
  each(at, count - at, bits);
}

static inline __attribute__((always_inline)) int any(const I8& mask) {
  int found = 0;
  for (int i = 0; i < 8; ++i) found |= mask[i];
  return found;
}

static ValueRange exponents(const Values& values) {
  I8 infinite = {}, far = {};
  for_eights(values.values, values.count, [&](u32 at, u32 count, const I8& bits) {
    I8 exponent = (bits >> 23 & 255) - 127;
    infinite |= exponent == 128;
    exponent = exponent > values.least ? exponent : I8{} + values.least;
    const I8 zero = (bits & 0x7fffffff) == 0;
    far |= ((exponent > kNear) | (exponent < -kNear)) & ~zero;
    exponent = zero ? I8{} + kNoExponent : exponent;
    const S8 exponents = __builtin_convertvector(exponent, S8);
    if (count == 8) return store(exponents, values.exponents + at);
    __builtin_memcpy(values.exponents + at, &exponents, count * sizeof(s16));
  });
  return {any(infinite) == 0, any(far) == 0};
}

static bool sums_are_near(const float* values, u32 rows, u32 columns, std::size_t stride) {
  constexpr int kLeast = (127 - 2 * kNear) << 23, kMost = (255 << 23) - 1;
  I8 far = {};
  for (u32 row = 0; row < rows; ++row) {
    for_eights(values + row * stride, columns, [&](u32, u32, const I8& bits) {
      const I8 size = bits & 0x7fffffff;
      far |= (size > kMost) | ((size > 0) & (size < kLeast));
    });
  }
  return any(far) == 0;
}

// Separates even and odd elements, and interleaves them again.
static void store_block(const Block<const float, float>& block) {
  for (std::size_t row = 0; row < 8; ++row) {
    V4 low, high;
    load(block.sums + row * block.stride, low);
    load(block.sums + row * block.stride + 4, high);
    store(__builtin_shufflevector(low, high, 0, 2, 4, 6), block.even + 4 * row);
    store(__builtin_shufflevector(low, high, 1, 3, 5, 7), block.odd + 4 * row);
  }
}

static void load_block(const Block<float, const float>& block) {
  for (std::size_t row = 0; row < 8; ++row) {
    V4 even, odd;
    load(block.even + 4 * row, even);
    load(block.odd + 4 * row, odd);
    store(__builtin_shufflevector(even, odd, 0, 4, 1, 5), block.sums + row * block.stride);
    store(__builtin_shufflevector(even, odd, 2, 6, 3, 7), block.sums + row * block.stride + 4);
  }
}

extern const Kernels kKernels;
const Kernels kKernels = {multiply_s32, multiply_near, exponents, sums_are_near, store_block, load_block};
// NOLINTEND(misc-definitions-in-headers)
