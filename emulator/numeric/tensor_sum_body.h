// Sums of near factors (tensor_sum.h). Included by multiply_body.h, whose restrictions apply. All addends are aligned
// as integers in units of their last kept bit.
// NOLINTBEGIN(misc-definitions-in-headers)

// The columns that the host multiplies at once, and eight, which divides the width of every tile.
#if defined(__AVX512F__)
constexpr int kWidest = 16;
#else
constexpr int kWidest = 8;
#endif
template <int kColumns> struct Vectors;
template <> struct Vectors<8> {
  using Float = V8;
  using Int = I8;
  using Short = S8;
};
template <> struct Vectors<16> {
  using Float = float __attribute__((vector_size(64)));
  using Int = int __attribute__((vector_size(64)));
  using Short = short __attribute__((vector_size(32)));
};
using D4 = double __attribute__((vector_size(32)));
using L4 = long long __attribute__((vector_size(32)));

// Computes 2^exponent for exponents of normal numbers.
template <class Int, class Float>
static inline __attribute__((always_inline)) void power_of_two(const Int& exponents, Float& powers) {
  const Int bits = (exponents + 127) << 23;
  bits_of(bits, powers);
}

template <class Vector> static inline __attribute__((always_inline)) void raise(Vector& most, const Vector& other) {
  most = most > other ? most : other;
}
template <class Vector> static inline __attribute__((always_inline)) void lower(Vector& least, const Vector& other) {
  least = least < other ? least : other;
}

template <class Int> static inline __attribute__((always_inline)) bool has_any(const Int& mask) {
  L4 words[sizeof(Int) / sizeof(L4)];
  bits_of(mask, words);
  L4 all = words[0];
  for (const L4& word : words) all |= word;
  return ((all[0] | all[1]) | (all[2] | all[3])) != 0;
}

// Sums of less than 2^31 units, in 32-bit integers.
template <int kWidth> struct Total {
  using Int = typename Vectors<kWidth>::Int;
  using Float = typename Vectors<kWidth>::Float;
  static constexpr bool kShort = true;
  Int units = {};

  __attribute__((always_inline)) void add(const Int& addend) { units += addend; }

  // Truncates the sums to the kept bits and converts them to floats; `unit` is a power of two.
  __attribute__((always_inline)) void finish(const Summation& sum, const Float& unit, float* result) const {
    const Int sign = units >> 31;
    const Int size = (units ^ sign) - sign;
    const Float nearest = __builtin_convertvector(size, Float);
    const Int beyond = __builtin_convertvector(nearest, Int) - size;
    Int bits;
    bits_of(nearest, bits);
    bits += beyond > 0;  // the mask is -1 where true: selects the next smaller number
    const int lost = (1 << (24 - sum.significand)) - 1;
    if (sum.to_odd) bits |= ((beyond | (bits & lost)) != 0) & (lost + 1);
    bits &= ~lost;
    Float kept;
    bits_of(bits, kept);
    kept *= unit;
    bits_of(kept, bits);
    bits |= sign & (-1 << 31);
    store(bits, result);
  }
};

// Arbitrary sums, in doubles: they take at most 33 bits.
template <int kWidth> struct LongTotal {
  using Int = typename Vectors<kWidth>::Int;
  using Float = typename Vectors<kWidth>::Float;
  static constexpr bool kShort = false;
  D4 units[kWidth / 4] = {};

  __attribute__((always_inline)) void add(const Int& addend) {
    I4 parts[kWidth / 4];
    bits_of(addend, parts);
    for (std::size_t i = 0; i < kWidth / 4; ++i) units[i] += __builtin_convertvector(parts[i], D4);
  }

  __attribute__((always_inline)) void finish(const Summation& sum, const Float& unit, float* result) const {
    V4 scales[kWidth / 4];
    bits_of(unit, scales);
    const long long lost = (1LL << (53 - sum.significand)) - 1;
    for (std::size_t i = 0; i < kWidth / 4; ++i) {
      L4 bits;
      bits_of(units[i], bits);
      if (sum.to_odd) bits |= ((bits & lost) != 0) & (lost + 1);
      bits &= ~lost;
      D4 kept;
      bits_of(bits, kept);
      store(__builtin_convertvector(kept * __builtin_convertvector(scales[i], D4), V4), result + 4 * i);
    }
  }
};

// Finds the largest exponents of the products of kRows rows by kColumns columns.
constexpr u32 kTops = 16;
template <int kRows, int kColumns>
static inline __attribute__((always_inline)) void find_tops(const FloatTile& tile, u32 row, u32 column, s16* tops) {
  using Short = typename Vectors<kColumns>::Short;
  Short top[kRows];
  for (Short& exponents : top) exponents = Short{} - static_cast<s16>(2 * kNear);
  const s16* a = tile.a.exponents + row * tile.a.stride;
  const s16* b = tile.b.exponents + column;
  for (u32 k = 0; k < tile.k; ++k, b += tile.b.stride) {
    Short exponents;
    load(b, exponents);
    for (std::size_t i = 0; i < kRows; ++i) raise(top[i], exponents + a[i * tile.a.stride + k]);
  }
  for (std::size_t i = 0; i < kRows; ++i) store(top[i], tops + i * kTops);
}

// The initial state of kRows rows by kWidth columns of sums: C in units, and the number of units in 1.
template <int kRows, int kWidth> struct Aligned {
  typename Vectors<kWidth>::Int top[kRows], c[kRows];
  typename Vectors<kWidth>::Float per_unit[kRows];
};

template <int kRows, int kWidth>
static inline __attribute__((always_inline)) void align(const FloatTile& tile, const s16* tops, const float* c,
                                                        Aligned<kRows, kWidth>& aligned) {
  using Int = typename Vectors<kWidth>::Int;
  for (std::size_t i = 0; i < kRows; ++i) {
    typename Vectors<kWidth>::Float before = {};
    if (tile.accumulate) load(c + i * tile.c_stride, before);
    Int bits;
    bits_of(before, bits);
    typename Vectors<kWidth>::Short top;
    load(tops + i * kTops, top);
    aligned.top[i] = __builtin_convertvector(top, Int);
    raise(aligned.top[i], (bits >> 23 & 255) - 127);
    power_of_two(tile.sum.fraction - aligned.top[i], aligned.per_unit[i]);
    aligned.c[i] = __builtin_convertvector(before * aligned.per_unit[i], Int);
  }
}

// Addends are below 2^27 units, so that 16 of them fit into 32 bits. Returns false, without any effect, if a sum may
// not fit into Sum.
template <class Sum, int kRows, int kWidth>
static inline __attribute__((always_inline)) bool add_up(const FloatTile& tile, const Aligned<kRows, kWidth>& aligned,
                                                         u32 row, u32 column) {
  using Int = typename Vectors<kWidth>::Int;
  using Float = typename Vectors<kWidth>::Float;
  Sum total[kRows];
  Int most = {}, least = {};
  const float* a = tile.a.values + row * tile.a.stride;
  const float* b = tile.b.values + column;
  for (u32 first = 0; first < tile.k; first += 16) {
    Int sums[kRows] = {};
    const u32 end = first + 16 < tile.k ? first + 16 : tile.k;
    for (u32 k = first; k < end; ++k, b += tile.b.stride) {
      Float values;
      load(b, values);
      for (std::size_t i = 0; i < kRows; ++i) {
        const Float products = a[i * tile.a.stride + k] * values;
        sums[i] += __builtin_convertvector(products * aligned.per_unit[i], Int);
      }
    }
    for (std::size_t i = 0; i < kRows; ++i) {
      total[i].add(sums[i]);
      raise(most, sums[i]);
      lower(least, sums[i]);
    }
  }
  constexpr int kRoom = 0x78000000;  // leaves room for C, and for rounding below 2^31
  const int limit = tile.k <= 16 ? kRoom : kRoom / static_cast<int>((tile.k + 15) / 16);
  if (Sum::kShort && has_any((most > limit) | (least < -limit))) return false;
  for (std::size_t i = 0; i < kRows; ++i) {
    total[i].add(aligned.c[i]);
    Float unit;
    power_of_two(aligned.top[i] - tile.sum.fraction, unit);
    total[i].finish(tile.sum, unit, tile.c + (row + i) * tile.c_stride + column);
  }
  return true;
}

template <int kRows, int kColumns>
static inline __attribute__((always_inline)) void multiply_near_rows(const FloatTile& tile, u32 row, u32 column) {
  constexpr int kWidth = kColumns < kWidest ? kColumns : kWidest;
  s16 tops[kRows * kTops];
  find_tops<kRows, kColumns>(tile, row, column, tops);
  for (u32 i = 0; i < kColumns; i += kWidth) {
    Aligned<kRows, kWidth> aligned;
    align(tile, tops + i, tile.c + row * tile.c_stride + column + i, aligned);
    if (add_up<Total<kWidth>>(tile, aligned, row, column + i)) continue;
    add_up<LongTotal<kWidth>>(tile, aligned, row, column + i);
  }
}

template <int kColumns>
static inline __attribute__((always_inline)) void multiply_near_columns(const FloatTile& tile, u32 column) {
  u32 row = 0;
  for (; row + 4 <= tile.m; row += 4) multiply_near_rows<4, kColumns>(tile, row, column);
  for (; row < tile.m; ++row) multiply_near_rows<1, kColumns>(tile, row, column);
}

static void multiply_near(const FloatTile& tile) {
  u32 column = 0;
  for (; column + 16 <= tile.n; column += 16) multiply_near_columns<16>(tile, column);
  if (column < tile.n) multiply_near_columns<8>(tile, column);
}
// NOLINTEND(misc-definitions-in-headers)
