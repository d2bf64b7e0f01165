// The lane functions. Included once for each instruction set, inside a namespace of that name: nothing here may call an
// inline function of the standard library, whose one copy in the program could then be the wrong set's.
// This file has no include guard and no includes.

// Values are read and written lane by lane in ascending order, so `d` may equal a source.
template <class D, class A, int N, class F> static inline void each(void* d, const void* a, F f) {
  D* const to = static_cast<D*>(d);
  const A* const x = static_cast<const A*>(a);
#pragma GCC ivdep
  for (int i = 0; i < N; ++i) to[i] = f(x[i]);
}
template <class D, class A, int N, class F> static inline void each(void* d, const void* a, const void* b, F f) {
  D* const to = static_cast<D*>(d);
  const A* const x = static_cast<const A*>(a);
  const A* const y = static_cast<const A*>(b);
#pragma GCC ivdep
  for (int i = 0; i < N; ++i) to[i] = f(x[i], y[i]);
}
template <class D, class A, int N, class F>
static inline void each(void* d, const void* a, const void* b, const void* c, F f) {
  D* const to = static_cast<D*>(d);
  const A* const x = static_cast<const A*>(a);
  const A* const y = static_cast<const A*>(b);
  const D* const z = static_cast<const D*>(c);
#pragma GCC ivdep
  for (int i = 0; i < N; ++i) to[i] = f(x[i], y[i], z[i]);
}
// For results wider than their sources: writes a copy first, because `d` and `a` may overlap in different lanes.
template <class D, class A, class F> static inline void widen(void* d, const void* a, const void* b, F f) {
  D to[kLanes];
  each<D, A, kLanes>(to, a, b, f);
  __builtin_memcpy(d, to, sizeof to);
}

// min and max return the number if the other operand is NaN; -0 is less than +0. PTX ISA 9.0, "min", "max".
template <class T> static inline T lesser(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return __builtin_signbit(a) != 0 ? a : b;
  return a < b ? a : b;
}
template <class T> static inline T greater(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return __builtin_signbit(a) != 0 ? b : a;
  return a > b ? a : b;
}
// .NaN: returns NaN if either operand is NaN.
template <class T> static inline T lesser_or_nan(T a, T b) {
  return a != a ? a : b != b ? b : lesser(a, b);
}
template <class T> static inline T greater_or_nan(T a, T b) {
  return a != a ? a : b != b ? b : greater(a, b);
}
static inline float clamped_unit(float x) {
  return x > 0 ? (x < 1 ? x : 1.0F) : 0.0F;  // NaN becomes 0
}
// .relu: NaN is preserved.
static inline float rectified(float x) {
  return x != x || x > 0 ? x : 0.0F;
}
// a * (1 / b), in which 1 / b is 0 where it would be subnormal. PTX ISA 9.0, "div".
static inline float approximate_quotient(float a, float b) {
  const float size = __builtin_fabsf(b);
  return size > 0x1p126F && size < __builtin_inff() ? a * __builtin_copysignf(0.0F, b) : a / b;
}
static inline s64 clamped_s32(s64 x) {
  constexpr s64 kMost = 0x7fffffff;
  return x > kMost ? kMost : x < -kMost - 1 ? -kMost - 1 : x;
}
static inline u16 flushed_f16(u16 x) {
  return (x & 0x7c00U) == 0 ? x & 0x8000U : x;
}
static inline float canonical(float x) {
  return x != x ? std::bit_cast<float>(0x7fffffffU) : x;
}

#define LANES_UNARY(NAME, T, N, EXPRESSION)                                   \
  static void NAME(void* d, const void* a, const void*, const void*) {        \
    each<T, T, N>(d, a, [](T x) -> T { return static_cast<T>(EXPRESSION); }); \
  }
#define LANES_BINARY(NAME, T, N, EXPRESSION)                                          \
  static void NAME(void* d, const void* a, const void* b, const void*) {              \
    each<T, T, N>(d, a, b, [](T x, T y) -> T { return static_cast<T>(EXPRESSION); }); \
  }
#define LANES_TERNARY(NAME, T, N, EXPRESSION)                                                 \
  static void NAME(void* d, const void* a, const void* b, const void* c) {                    \
    each<T, T, N>(d, a, b, c, [](T x, T y, T z) -> T { return static_cast<T>(EXPRESSION); }); \
  }
// d = x op y with a result twice as wide, and the same plus a wide addend.
#define LANES_WIDE(NAME, D, A)                                                                       \
  static void mul_wide_##NAME(void* d, const void* a, const void* b, const void*) {                  \
    widen<D, A>(d, a, b, [](A x, A y) -> D { return static_cast<D>(static_cast<D>(x) * y); });       \
  }                                                                                                  \
  static void mad_wide_##NAME(void* d, const void* a, const void* b, const void* c) {                \
    D product[kLanes];                                                                               \
    widen<D, A>(product, a, b, [](A x, A y) -> D { return static_cast<D>(static_cast<D>(x) * y); }); \
    using U = std::make_unsigned_t<D>;                                                               \
    each<U, U, kLanes>(d, product, c, [](U x, U y) -> U { return static_cast<U>(x + y); });          \
  }
// A shift by at least the register's width yields zeros, or copies of the sign. The shift amount has 32 bits for every
// width.
#define LANES_SHIFT(NAME, T, AMOUNT, EXPRESSION)                         \
  static void NAME(void* d, const void* a, const void* b, const void*) { \
    T* const to = static_cast<T*>(d);                                    \
    const T* const from = static_cast<const T*>(a);                      \
    u32 amount[kLanes];                                                  \
    __builtin_memcpy(amount, b, sizeof amount);                          \
    for (int i = 0; i < kLanes; ++i) {                                   \
      const T x = from[i];                                               \
      const u32 n = amount[i] > (AMOUNT) ? (AMOUNT) : amount[i];         \
      [[maybe_unused]] const bool all = amount[i] > (AMOUNT);            \
      to[i] = static_cast<T>(EXPRESSION);                                \
    }                                                                    \
  }
// Returns the value in f32 rounded to odd, so that NARROW rounds it as if once.
static inline float odd_f32(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || value != value) return nearest;
  u32 bits = std::bit_cast<u32>(nearest);
  if ((bits & 1U) != 0) return nearest;
  const bool away =
      (value > 0 ? value : -value) > (value > 0 ? static_cast<double>(nearest) : -static_cast<double>(nearest));
  return std::bit_cast<float>(away ? bits + 1 : bits - 1);
}

static inline u32 reversed32(u32 x) {
  x = (x >> 1 & 0x55555555U) | (x & 0x55555555U) << 1;
  x = (x >> 2 & 0x33333333U) | (x & 0x33333333U) << 2;
  x = (x >> 4 & 0x0f0f0f0fU) | (x & 0x0f0f0f0fU) << 4;
  return __builtin_bswap32(x);
}
// Returns the position of the highest bit that differs from the sign.
static inline u32 bfind_signed(u32 x) {
  const u32 magnitude = (x >> 31) != 0 ? ~x : x;
  return magnitude != 0 ? 31U - static_cast<u32>(__builtin_clz(magnitude)) : ~0U;
}
using host_f32 = float;
using host_f64 = double;

// Frequent conversions; the others are performed lane by lane (numeric/convert.h).
#define LANES_CONVERT_BY(NAME, D, A, EXPRESSION)                       \
  static void NAME(void* d, const void* a, const void*, const void*) { \
    D to[kLanes];                                                      \
    each<D, A, kLanes>(to, a, [](A x) { return EXPRESSION; });         \
    __builtin_memcpy(d, to, sizeof to);                                \
  }
#define LANES_CONVERT(NAME, D, A) LANES_CONVERT_BY(NAME, D, A, static_cast<D>(x))
static void cvt_pack_bf16x2(void* d, const void* a, const void* b, const void*) {
  each<u32, float, kLanes>(d, a, b, [](float high, float low) {
    return static_cast<u32>(numeric::f32_to_bf16(high)) << 16 | numeric::f32_to_bf16(low);
  });
}
static void cvt_pack_f16x2(void* d, const void* a, const void* b, const void*) {
  each<u32, float, kLanes>(d, a, b, [](float high, float low) {
    return static_cast<u32>(numeric::f32_to_f16(high)) << 16 | numeric::f32_to_f16(low);
  });
}
static void flush_f32(void* d, const void* a, const void*, const void*) {
  each<float, float, kLanes>(d, a, [](float x) { return numeric::flushed(x); });
}
static void saturate_f32(void* d, const void* a, const void*, const void*) {
  each<float, float, kLanes>(d, a, [](float x) { return clamped_unit(x); });
}

static void addresses(void* d, const void* a, const void* b, const void* c) {
  LaneAddresses& lanes = *static_cast<LaneAddresses*>(d);
  const u64* const base = static_cast<const u64*>(a);
  const u64 offset = *static_cast<const u64*>(b);
  const Mask active = *static_cast<const Mask*>(c);
  const u64 first = base[__builtin_ctz(active)] + offset;
  s64 low = static_cast<s64>(first), high = low;
  u64 any = 0, irregular = 0;
  for (int i = 0; i < kLanes; ++i) lanes.at[i] = (active >> i & 1U) != 0 ? base[i] + offset : first;
  const u64 start = lanes.at[0], stride = lanes.at[1] - start;
  for (int i = 0; i < kLanes; ++i) {
    const s64 at = static_cast<s64>(lanes.at[i]);
    low = at < low ? at : low;
    high = at > high ? at : high;
    any |= lanes.at[i];
    irregular |= lanes.at[i] ^ (start + static_cast<u64>(i) * stride);
  }
  lanes.low = static_cast<u64>(low);
  lanes.high = static_cast<u64>(high);
  lanes.any = any;
  lanes.irregular = irregular;
}

template <class T, class F> static inline Mask compare(const void* a, const void* b, F f) {
  const T* const x = static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
  u32 bits[kLanes];
  for (int i = 0; i < kLanes; ++i) bits[i] = f(x[i], y[i]) ? u32{1} << i : 0U;
  Mask mask = 0;
  for (const u32 bit : bits) mask |= bit;
  return mask;
}
#define LANES_COMPARE(NAME, S, T, VALUE, EXPRESSION)     \
  static Mask NAME##_##S(const void* a, const void* b) { \
    return compare<T>(a, b, [](T p, T q) {               \
      const auto x = VALUE(p), y = VALUE(q);             \
      return EXPRESSION;                                 \
    });                                                  \
  }

#include "emulator/isa/arithmetic/lanes_list.h"

#undef LANES_UNARY
#undef LANES_BINARY
#undef LANES_TERNARY
#undef LANES_WIDE
#undef LANES_SHIFT
#undef LANES_CONVERT
#undef LANES_CONVERT_BY
#undef LANES_INTEGER
#undef LANES_FLOAT
#undef LANES_HALF
#undef LANES_COMPARE
#undef LANES_COMPARE_ORDERED
#undef LANES_COMPARE_FLOAT
#define LANES_UNARY(NAME, ...) {#NAME, NAME},
#define LANES_BINARY(NAME, ...) {#NAME, NAME},
#define LANES_TERNARY(NAME, ...) {#NAME, NAME},
#define LANES_SHIFT(NAME, ...) {#NAME, NAME},
#define LANES_CONVERT(NAME, ...) {#NAME, NAME},
#define LANES_CONVERT_BY(NAME, ...) {#NAME, NAME},
#define LANES_WIDE(NAME, ...) {"mul_wide_" #NAME, mul_wide_##NAME}, {"mad_wide_" #NAME, mad_wide_##NAME},
#define LANES_COMPARE(NAME, S, ...)
extern const NamedLanes kTable[] = {
#include "emulator/isa/arithmetic/lanes_list.h"
    {"cvt_pack_bf16x2", cvt_pack_bf16x2}, {"cvt_pack_f16x2", cvt_pack_f16x2}, {"flush_f32", flush_f32},
    {"saturate_f32", saturate_f32},       {"addresses", addresses},           {nullptr, nullptr},
};

#undef LANES_UNARY
#undef LANES_BINARY
#undef LANES_TERNARY
#undef LANES_SHIFT
#undef LANES_CONVERT
#undef LANES_CONVERT_BY
#undef LANES_WIDE
#undef LANES_COMPARE
#undef LANES_INTEGER
#undef LANES_FLOAT
#undef LANES_HALF
#undef LANES_COMPARE_ORDERED
#undef LANES_COMPARE_FLOAT
#define LANES_UNARY(...)
#define LANES_BINARY(...)
#define LANES_TERNARY(...)
#define LANES_SHIFT(...)
#define LANES_CONVERT(...)
#define LANES_CONVERT_BY(...)
#define LANES_WIDE(...)
#define LANES_COMPARE(NAME, S, ...) {#NAME "_" #S, NAME##_##S},
extern const NamedCompare kCompareTable[] = {
#include "emulator/isa/arithmetic/lanes_list.h"
    {nullptr, nullptr},
};
