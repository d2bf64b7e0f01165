// The list of lane functions, as invocations of macros that lanes_body.h defines twice: for functions and for rows of a
// table. x, y and z are one lane of the sources. This file has no include guard.

// 16-bit floats: N elements, each computed in f32. WIDEN and NARROW are functions of float_bits.h.
#define LANES_HALF(NAME, N, WIDEN, NARROW)                                         \
  LANES_BINARY(add_##NAME, u16, N, NARROW(WIDEN(x) + WIDEN(y)))                    \
  LANES_BINARY(sub_##NAME, u16, N, NARROW(WIDEN(x) - WIDEN(y)))                    \
  LANES_BINARY(mul_##NAME, u16, N, NARROW(WIDEN(x) * WIDEN(y)))                    \
  LANES_BINARY(min_##NAME, u16, N, NARROW(lesser(WIDEN(x), WIDEN(y))))             \
  LANES_BINARY(max_##NAME, u16, N, NARROW(greater(WIDEN(x), WIDEN(y))))            \
  LANES_BINARY(min_nan_##NAME, u16, N, NARROW(lesser_or_nan(WIDEN(x), WIDEN(y))))  \
  LANES_BINARY(max_nan_##NAME, u16, N, NARROW(greater_or_nan(WIDEN(x), WIDEN(y)))) \
  LANES_UNARY(saturate_##NAME, u16, N, NARROW(clamped_unit(WIDEN(x))))             \
  LANES_UNARY(rectify_##NAME, u16, N, NARROW(rectified(WIDEN(x))))                 \
  LANES_UNARY(neg_##NAME, u16, N, x ^ 0x8000U)                                     \
  LANES_UNARY(abs_##NAME, u16, N, x & 0x7fffU)                                     \
  LANES_TERNARY(fma_##NAME, u16, N,                                                \
                NARROW(static_cast<float>(odd_f32(numeric::fused_to_odd(WIDEN(x), WIDEN(y), WIDEN(z))))))

#define LANES_INTEGER(U, S)                                                             \
  LANES_BINARY(add_##U, U, kLanes, x + y)                                               \
  LANES_BINARY(sub_##U, U, kLanes, x - y)                                               \
  LANES_BINARY(mul_lo_##U, U, kLanes, u64{x} * y)                                       \
  LANES_TERNARY(mad_lo_##U, U, kLanes, u64{x} * y + z)                                  \
  LANES_BINARY(min_##U, U, kLanes, x < y ? x : y)                                       \
  LANES_BINARY(max_##U, U, kLanes, x > y ? x : y)                                       \
  LANES_BINARY(min_##S, S, kLanes, x < y ? x : y)                                       \
  LANES_BINARY(max_##S, S, kLanes, x > y ? x : y)                                       \
  LANES_BINARY(div_##U, U, kLanes, y != 0 ? x / y : static_cast<U>(~U{0}))              \
  LANES_BINARY(rem_##U, U, kLanes, y != 0 ? x % y : x)                                  \
  LANES_BINARY(div_##S, S, kLanes,                                                      \
               y == 0    ? S{-1}                                                        \
               : y == -1 ? static_cast<S>(U{0} - static_cast<U>(x))                     \
                         : static_cast<S>(x / y))                                       \
  LANES_BINARY(rem_##S, S, kLanes, y == 0 ? x : y == -1 ? S{0} : static_cast<S>(x % y)) \
  LANES_UNARY(neg_##S, U, kLanes, U{0} - x)                                             \
  LANES_UNARY(abs_##S, S, kLanes, x < 0 ? static_cast<S>(U{0} - static_cast<U>(x)) : x) \
  LANES_BINARY(and_##U, U, kLanes, x& y)                                                \
  LANES_BINARY(or_##U, U, kLanes, x | y)                                                \
  LANES_BINARY(xor_##U, U, kLanes, x ^ y)                                               \
  LANES_UNARY(not_##U, U, kLanes, ~x)                                                   \
  LANES_UNARY(cnot_##U, U, kLanes, x == 0 ? 1 : 0)                                      \
  LANES_UNARY(mov_##U, U, kLanes, x)                                                    \
  LANES_SHIFT(shl_##U, U, 8 * sizeof(U) - 1, all ? 0 : static_cast<u64>(x) << n)        \
  LANES_SHIFT(shr_##U, U, 8 * sizeof(U) - 1, all ? 0 : x >> n)                          \
  LANES_SHIFT(shr_##S, S, 8 * sizeof(S) - 1, x >> n)

LANES_INTEGER(u16, s16)
LANES_INTEGER(u32, s32)
LANES_INTEGER(u64, s64)
LANES_WIDE(u16, u32, u16)
LANES_WIDE(s16, s32, s16)
LANES_WIDE(u32, u64, u32)
LANES_WIDE(s32, s64, s32)

LANES_BINARY(mul_hi_u16, u16, kLanes, (u32{x} * y) >> 16)
LANES_BINARY(mul_hi_s16, s16, kLanes, (s32{x} * y) >> 16)
LANES_BINARY(mul_hi_u32, u32, kLanes, (u64{x} * y) >> 32)
LANES_BINARY(mul_hi_s32, s32, kLanes, (s64{x} * y) >> 32)
LANES_BINARY(mul_hi_u64, u64, kLanes, (static_cast<unsigned __int128>(x) * y) >> 64)
LANES_BINARY(mul_hi_s64, s64, kLanes, (static_cast<__int128>(x) * y) >> 64)
LANES_TERNARY(mad_hi_u32, u32, kLanes, ((u64{x} * y) >> 32) + z)
LANES_TERNARY(mad_hi_s32, u32, kLanes, static_cast<u32>((s64{static_cast<s32>(x)} * static_cast<s32>(y)) >> 32) + z)
LANES_TERNARY(mad_hi_u64, u64, kLanes, static_cast<u64>((static_cast<unsigned __int128>(x) * y) >> 64) + z)
LANES_BINARY(mul24_lo_u32, u32, kLanes, (x & 0xffffffU) * (y & 0xffffffU))
LANES_BINARY(mul24_lo_s32, u32, kLanes,
             static_cast<u32>((static_cast<s32>(x << 8) >> 8) * (static_cast<s64>(static_cast<s32>(y << 8) >> 8))))
LANES_TERNARY(sad_u32, u32, kLanes, z + (x > y ? x - y : y - x))
LANES_TERNARY(sad_s32, u32, kLanes, z + (static_cast<s32>(x) > static_cast<s32>(y) ? x - y : y - x))

// Packed integers wrap around; .sat clamps to the type, and .relu to 0.
LANES_BINARY(add_u16x2, u16, 2 * kLanes, x + y)
LANES_BINARY(add_s16x2, u16, 2 * kLanes, x + y)
LANES_BINARY(min_u16x2, u16, 2 * kLanes, x < y ? x : y)
LANES_BINARY(max_u16x2, u16, 2 * kLanes, x > y ? x : y)
LANES_BINARY(min_s16x2, s16, 2 * kLanes, x < y ? x : y)
LANES_BINARY(max_s16x2, s16, 2 * kLanes, x > y ? x : y)
LANES_UNARY(rectify_s16x2, s16, 2 * kLanes, x > 0 ? x : 0)
LANES_UNARY(rectify_s32, s32, kLanes, x > 0 ? x : 0)
LANES_BINARY(add_sat_s32, s32, kLanes, clamped_s32(s64{x} + y))
LANES_BINARY(sub_sat_s32, s32, kLanes, clamped_s32(s64{x} - y))

LANES_UNARY(popc_b32, u32, kLanes, __builtin_popcount(x))
LANES_UNARY(clz_b32, u32, kLanes, x != 0 ? __builtin_clz(x) : 32)
LANES_UNARY(brev_b32, u32, kLanes, reversed32(x))
LANES_UNARY(brev_b64, u64, kLanes, (u64{reversed32(static_cast<u32>(x))} << 32) | reversed32(static_cast<u32>(x >> 32)))
LANES_UNARY(bfind_u32, u32, kLanes, x != 0 ? 31 - __builtin_clz(x) : ~0)
LANES_UNARY(bfind_s32, u32, kLanes, bfind_signed(x))

// CANONICAL makes NaN 0x7fffffff in f32, where payloads are not kept. PTX ISA 9.0, "Operations on NaN".
#define LANES_FLOAT(T, FMA, SQRT, CANONICAL)                        \
  LANES_BINARY(add_##T, host_##T, kLanes, CANONICAL(x + y))         \
  LANES_BINARY(sub_##T, host_##T, kLanes, CANONICAL(x - y))         \
  LANES_BINARY(mul_##T, host_##T, kLanes, CANONICAL(x* y))          \
  LANES_BINARY(div_##T, host_##T, kLanes, CANONICAL(x / y))         \
  LANES_TERNARY(fma_##T, host_##T, kLanes, CANONICAL(FMA(x, y, z))) \
  LANES_BINARY(min_##T, host_##T, kLanes, CANONICAL(lesser(x, y)))  \
  LANES_BINARY(max_##T, host_##T, kLanes, CANONICAL(greater(x, y))) \
  LANES_UNARY(neg_##T, host_##T, kLanes, -x)                        \
  LANES_UNARY(abs_##T, host_##T, kLanes, __builtin_fabs(x))         \
  LANES_UNARY(rcp_##T, host_##T, kLanes, CANONICAL(1 / x))          \
  LANES_UNARY(sqrt_##T, host_##T, kLanes, CANONICAL(SQRT(x)))       \
  LANES_UNARY(rsqrt_##T, host_##T, kLanes, CANONICAL(static_cast<host_##T>(1 / __builtin_sqrt(x))))
LANES_FLOAT(f32, __builtin_fmaf, __builtin_sqrtf, canonical)
LANES_FLOAT(f64, __builtin_fma, __builtin_sqrt, )
LANES_BINARY(div_approx_f32, float, kLanes, canonical(approximate_quotient(x, y)))
LANES_BINARY(add_f32x2, float, 2 * kLanes, canonical(x + y))
LANES_BINARY(sub_f32x2, float, 2 * kLanes, canonical(x - y))
LANES_BINARY(mul_f32x2, float, 2 * kLanes, canonical(x* y))
LANES_TERNARY(fma_f32x2, float, 2 * kLanes, canonical(__builtin_fmaf(x, y, z)))
LANES_BINARY(min_nan_f32, float, kLanes, canonical(lesser_or_nan(x, y)))
LANES_BINARY(max_nan_f32, float, kLanes, canonical(greater_or_nan(x, y)))
LANES_TERNARY(min3_nan_f32, float, kLanes, canonical(lesser_or_nan(lesser_or_nan(x, y), z)))
LANES_TERNARY(max3_nan_f32, float, kLanes, canonical(greater_or_nan(greater_or_nan(x, y), z)))
LANES_UNARY(flush_f32x2, float, 2 * kLanes, numeric::flushed(x))
LANES_UNARY(flush_f16, u16, kLanes, flushed_f16(x))
LANES_UNARY(flush_f16x2, u16, 2 * kLanes, flushed_f16(x))
LANES_TERNARY(min3_f32, float, kLanes, canonical(lesser(lesser(x, y), z)))
LANES_TERNARY(max3_f32, float, kLanes, canonical(greater(greater(x, y), z)))
LANES_UNARY(ex2_f32, float, kLanes, canonical(__builtin_exp2f(x)))
LANES_UNARY(lg2_f32, float, kLanes, canonical(__builtin_log2f(x)))
LANES_UNARY(sin_f32, float, kLanes, canonical(__builtin_sinf(x)))
LANES_UNARY(cos_f32, float, kLanes, canonical(__builtin_cosf(x)))
LANES_UNARY(tanh_f32, float, kLanes, canonical(__builtin_tanhf(x)))
LANES_BINARY(copysign_f32, float, kLanes, __builtin_copysignf(y, x))
LANES_BINARY(copysign_f64, double, kLanes, __builtin_copysign(y, x))

LANES_HALF(f16, kLanes, numeric::f16_to_f32, numeric::f32_to_f16)
LANES_HALF(f16x2, 2 * kLanes, numeric::f16_to_f32, numeric::f32_to_f16)
LANES_HALF(bf16, kLanes, numeric::bf16_to_f32, numeric::f32_to_bf16)
LANES_HALF(bf16x2, 2 * kLanes, numeric::bf16_to_f32, numeric::f32_to_bf16)
LANES_UNARY(ex2_f16, u16, kLanes, numeric::f32_to_f16(__builtin_exp2f(numeric::f16_to_f32(x))))
LANES_UNARY(ex2_f16x2, u16, 2 * kLanes, numeric::f32_to_f16(__builtin_exp2f(numeric::f16_to_f32(x))))
LANES_UNARY(ex2_bf16, u16, kLanes, numeric::f32_to_bf16(__builtin_exp2f(numeric::bf16_to_f32(x))))
LANES_UNARY(ex2_bf16x2, u16, 2 * kLanes, numeric::f32_to_bf16(__builtin_exp2f(numeric::bf16_to_f32(x))))
LANES_UNARY(tanh_f16, u16, kLanes, numeric::f32_to_f16(__builtin_tanhf(numeric::f16_to_f32(x))))
LANES_UNARY(tanh_f16x2, u16, 2 * kLanes, numeric::f32_to_f16(__builtin_tanhf(numeric::f16_to_f32(x))))
LANES_UNARY(tanh_bf16, u16, kLanes, numeric::f32_to_bf16(__builtin_tanhf(numeric::bf16_to_f32(x))))
LANES_UNARY(tanh_bf16x2, u16, 2 * kLanes, numeric::f32_to_bf16(__builtin_tanhf(numeric::bf16_to_f32(x))))

LANES_CONVERT(cvt_u64_u32, u64, u32)
LANES_CONVERT(cvt_s64_s32, s64, s32)
LANES_CONVERT(cvt_u32_u64, u32, u64)
LANES_CONVERT(cvt_u32_u16, u32, u16)
LANES_CONVERT(cvt_s32_s16, s32, s16)
LANES_CONVERT(cvt_u16_u32, u16, u32)
LANES_CONVERT(cvt_u64_u16, u64, u16)
LANES_CONVERT(cvt_f32_u32, float, u32)
LANES_CONVERT(cvt_f32_s32, float, s32)
LANES_CONVERT(cvt_f64_f32, double, float)
LANES_CONVERT(cvt_f32_f64, float, double)
LANES_CONVERT_BY(cvt_f32_f16, float, u16, canonical(numeric::f16_to_f32(x)))
LANES_CONVERT_BY(cvt_f32_bf16, float, u16, canonical(numeric::bf16_to_f32(x)))
LANES_CONVERT_BY(cvt_f16_f32, u16, float, numeric::f32_to_f16(x))
LANES_CONVERT_BY(cvt_bf16_f32, u16, float, numeric::f32_to_bf16(x))

#define LANES_COMPARE_ORDERED(S, T, VALUE)    \
  LANES_COMPARE(eq, S, T, VALUE, x == y)      \
  LANES_COMPARE(ne, S, T, VALUE, x<y || x> y) \
  LANES_COMPARE(lt, S, T, VALUE, x < y)       \
  LANES_COMPARE(le, S, T, VALUE, x <= y)      \
  LANES_COMPARE(gt, S, T, VALUE, x > y)       \
  LANES_COMPARE(ge, S, T, VALUE, x >= y)
#define LANES_COMPARE_FLOAT(S, T, VALUE)             \
  LANES_COMPARE_ORDERED(S, T, VALUE)                 \
  LANES_COMPARE(equ, S, T, VALUE, !(x < y || x > y)) \
  LANES_COMPARE(neu, S, T, VALUE, !(x == y))         \
  LANES_COMPARE(ltu, S, T, VALUE, !(x >= y))         \
  LANES_COMPARE(leu, S, T, VALUE, !(x > y))          \
  LANES_COMPARE(gtu, S, T, VALUE, !(x <= y))         \
  LANES_COMPARE(geu, S, T, VALUE, !(x < y))          \
  LANES_COMPARE(num, S, T, VALUE, x == x && y == y)  \
  LANES_COMPARE(nan, S, T, VALUE, x != x || y != y)
LANES_COMPARE_ORDERED(u16, u16, )
LANES_COMPARE_ORDERED(s16, s16, )
LANES_COMPARE_ORDERED(u32, u32, )
LANES_COMPARE_ORDERED(s32, s32, )
LANES_COMPARE_ORDERED(u64, u64, )
LANES_COMPARE_ORDERED(s64, s64, )
LANES_COMPARE_FLOAT(f32, float, )
LANES_COMPARE_FLOAT(f64, double, )
LANES_COMPARE_FLOAT(f16, u16, numeric::f16_to_f32)
LANES_COMPARE_FLOAT(bf16, u16, numeric::bf16_to_f32)
