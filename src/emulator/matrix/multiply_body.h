// The text of the multiplications, included once for each instruction set in a namespace of its own. No other header's
// functions may be used here: the linker could keep this file's copies for machines that cannot run them.
// NOLINTBEGIN(misc-definitions-in-headers)

using V8 = float __attribute__((vector_size(32)));
using I8 = int __attribute__((vector_size(32)));
using V4 = float __attribute__((vector_size(16)));
using I4 = int __attribute__((vector_size(16)));
using D4 = double __attribute__((vector_size(32)));
using L4 = long long __attribute__((vector_size(32)));

// Rows lie at multiples of an element only.
template <class Vector, class T> static inline __attribute__((always_inline)) void load(const T* from, Vector& to) {
  __builtin_memcpy(&to, from, sizeof to);
}
template <class Vector, class T> static inline __attribute__((always_inline)) void store(const Vector& from, T* to) {
  __builtin_memcpy(to, &from, sizeof from);
}
template <class To, class From> static inline __attribute__((always_inline)) void bits_of(const From& from, To& to) {
  __builtin_memcpy(&to, &from, sizeof to);
}

// kRows rows by 8 * kVectors columns, held in registers over all of k.
template <int kRows, int kVectors>
static inline __attribute__((always_inline)) void multiply_block(const IntegerTile& tile, u32 row, u32 column) {
  I8 sums[kRows][kVectors] = {};
  s32* c = tile.c + row * tile.c_stride + column;
  if (tile.onto) {
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kVectors; ++j) load(c + static_cast<u32>(i) * tile.c_stride + 8 * j, sums[i][j]);
    }
  }
  const s32* a = tile.a + row * tile.a_stride;
  const s32* b = tile.b + column;
  for (u32 k = 0; k < tile.k; ++k, b += tile.b_stride) {
    I8 values[kVectors];
    for (int j = 0; j < kVectors; ++j) load(b + 8 * j, values[j]);
    for (int i = 0; i < kRows; ++i) {
      const s32 factor = a[static_cast<u32>(i) * tile.a_stride + k];
      for (int j = 0; j < kVectors; ++j) sums[i][j] += factor * values[j];
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kVectors; ++j) store(sums[i][j], c + static_cast<u32>(i) * tile.c_stride + 8 * j);
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

// Half of eight: the lower one or the upper.
template <int kHalf, class Vector, class Half>
static inline __attribute__((always_inline)) void half_of(const Vector& vector, Half& half) {
  __builtin_memcpy(&half, reinterpret_cast<const char*>(&vector) + kHalf * sizeof half, sizeof half);
}

// 2^exponent for eight exponents that a normal number has.
static inline __attribute__((always_inline)) void power_of_two(const I8& exponents, V8& powers) {
  const I8 bits = (exponents + 127) << 23;
  bits_of(bits, powers);
}

static inline __attribute__((always_inline)) void raise(I8& most, const I8& other) {
  most = most > other ? most : other;
}

// Sums in units of the last bit of their addends, in doubles: they take up to 33 bits.
struct Total {
  D4 low = {}, high = {};
};

static inline __attribute__((always_inline)) void add(Total& total, const I8& addend) {
  I4 low, high;
  half_of<0>(addend, low);
  half_of<1>(addend, high);
  total.low += __builtin_convertvector(low, D4);
  total.high += __builtin_convertvector(high, D4);
}

// Half of a total, cut to the bits that are kept of it, as a number.
template <int kHalf>
static inline __attribute__((always_inline)) void finish(const Summation& sum, const V8& per_unit, const D4& total,
                                                         float* result) {
  L4 bits;
  bits_of(total, bits);
  const long long lost = (1LL << (53 - sum.significand)) - 1;
  if (sum.to_odd) bits |= ((bits & lost) != 0) & (lost + 1);
  bits &= ~lost;
  D4 kept, unit;
  bits_of(bits, kept);
  V4 scale;
  half_of<kHalf>(per_unit, scale);
  const D4 wide = __builtin_convertvector(scale, D4);
  bits_of(wide, bits);
  bits = (2046LL << 52) - bits;  // 1 / 2^n
  bits_of(bits, unit);
  store(__builtin_convertvector(kept * unit, V4), result + 4 * kHalf);
}

// kRows rows by 8 columns. Addends are below 2^27 units: 16 of them fit into 32 bits.
template <int kRows>
static inline __attribute__((always_inline)) void multiply_near_rows(const FloatTile& tile, u32 row, u32 column) {
  V8 before[kRows] = {};
  I8 top[kRows];
  float* c = tile.c + row * tile.c_stride + column;
  for (int i = 0; i < kRows; ++i) {
    if (tile.onto) load(c + static_cast<u32>(i) * tile.c_stride, before[i]);
    I8 bits;
    bits_of(before[i], bits);
    top[i] = (bits >> 23 & 255) - 127;
    raise(top[i], I8{} - 2 * kNear);
  }
  const s32* a_exponents = tile.a.exponents + row * tile.a.stride;
  const s32* b_exponents = tile.b.exponents + column;
  for (u32 k = 0; k < tile.k; ++k, b_exponents += tile.b.stride) {
    I8 exponents;
    load(b_exponents, exponents);
    for (int i = 0; i < kRows; ++i) raise(top[i], exponents + a_exponents[static_cast<u32>(i) * tile.a.stride + k]);
  }
  V8 per_unit[kRows];
  for (int i = 0; i < kRows; ++i) power_of_two(tile.sum.fraction - top[i], per_unit[i]);
  Total total[kRows];
  for (int i = 0; i < kRows; ++i) add(total[i], __builtin_convertvector(before[i] * per_unit[i], I8));
  const float* a = tile.a.values + row * tile.a.stride;
  const float* b = tile.b.values + column;
  for (u32 first = 0; first < tile.k; first += 16) {
    I8 sums[kRows] = {};
    const u32 end = first + 16 < tile.k ? first + 16 : tile.k;
    for (u32 k = first; k < end; ++k, b += tile.b.stride) {
      V8 values;
      load(b, values);
      for (int i = 0; i < kRows; ++i)
        sums[i] += __builtin_convertvector(a[static_cast<u32>(i) * tile.a.stride + k] * values * per_unit[i], I8);
    }
    for (int i = 0; i < kRows; ++i) add(total[i], sums[i]);
  }
  for (int i = 0; i < kRows; ++i) {
    finish<0>(tile.sum, per_unit[i], total[i].low, c + static_cast<u32>(i) * tile.c_stride);
    finish<1>(tile.sum, per_unit[i], total[i].high, c + static_cast<u32>(i) * tile.c_stride);
  }
}

static void multiply_near(const FloatTile& tile) {
  for (u32 column = 0; column < tile.n; column += 8) {
    u32 row = 0;
    for (; row + 4 <= tile.m; row += 4) multiply_near_rows<4>(tile, row, column);
    for (; row < tile.m; ++row) multiply_near_rows<1>(tile, row, column);
  }
}

static inline __attribute__((always_inline)) int any(const I8& mask) {
  int found = 0;
  for (int i = 0; i < 8; ++i) found |= mask[i];
  return found;
}

// Eight at a time; the rest is filled up with zeros.
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

static Reach exponents(const Values& values) {
  I8 infinite = {}, far = {};
  for_eights(values.values, values.count, [&](u32 at, u32 count, const I8& bits) {
    I8 exponent = (bits >> 23 & 255) - 127;
    infinite |= exponent == 128;
    raise(exponent, I8{} + values.least);
    const I8 zero = (bits & 0x7fffffff) == 0;
    far |= ((exponent > kNear) | (exponent < -kNear)) & ~zero;
    exponent = zero ? I8{} + kNoExponent : exponent;
    if (count == 8) return store(exponent, values.exponents + at);
    __builtin_memcpy(values.exponents + at, &exponent, count * sizeof(s32));
  });
  return {any(infinite) == 0, any(far) == 0};
}

static bool sums_are_near(const float* values, u32 count) {
  I8 far = {};
  for_eights(values, count, [&](u32, u32, const I8& bits) {
    const I8 exponent = (bits >> 23 & 255) - 127;
    far |= (exponent == 128) | ((exponent < -2 * kNear) & ((bits & 0x7fffffff) != 0));
  });
  return any(far) == 0;
}

static void store_block(const Block<const float, float>& block) {
  for (std::size_t row = 0; row < 8; ++row) {
    const float* sums = block.sums + row * block.stride;
    for (std::size_t i = 0; i < 4; ++i) {
      block.even[4 * row + i] = sums[2 * i];
      block.odd[4 * row + i] = sums[2 * i + 1];
    }
  }
}

static void load_block(const Block<float, const float>& block) {
  for (std::size_t row = 0; row < 8; ++row) {
    float* sums = block.sums + row * block.stride;
    for (std::size_t i = 0; i < 4; ++i) {
      sums[2 * i] = block.even[4 * row + i];
      sums[2 * i + 1] = block.odd[4 * row + i];
    }
  }
}

extern const Kernels kKernels;
const Kernels kKernels = {multiply_s32, multiply_near, exponents, sums_are_near, store_block, load_block};
// NOLINTEND(misc-definitions-in-headers)
