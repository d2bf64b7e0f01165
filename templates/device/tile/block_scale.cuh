#pragma once
// Numbers of 8 or 4 bits in units of a scale of 8 bits that some neighbouring columns share: the formats that
// block-scaled products of sm_100a and sm_120a take. Scales: 3: mxfp8, e4m3 and a power of two (e8m0, code - 127 is its
// exponent) for 32 columns; 4: mxfp4, e2m1 likewise; 5: nvfp4, e2m1 and an e4m3 for 16 columns. OCP Microscaling
// Formats 1.0.
#include "device/ptx/cvt_e2m1.cuh"

template <int Scales> struct BlockFormat {
  static constexpr bool kFour = Scales >= 4, kPower = Scales <= 4;
  static constexpr int kWidth = Scales == 5 ? 16 : 32;  // columns that share a scale
};

struct BlockScale {
  u8 code;
  f32 inverse;   // what elements are multiplied by
  bool none;     // whether it is NaN, or in units of one
  bool bounded;  // whether multiplied elements are surely below 7, for e2m1
};

// The scale of elements of which `greatest` is the greatest magnitude: the least power of two with which none is beyond
// the largest number, or a sixth of it rounded to e4m3, in units of the magnitude of `unit`, because products take
// scales without a sign. For e2m1, which has no NaN, the scale is one where `greatest` is. Elements are 0 where scale *
// unit is below the normal numbers, as under a unit of 0, or NaN, as under a unit that is NaN or infinite.
template <int Scales> __device__ inline BlockScale block_scale(f32 greatest, f32 unit) {
  using Format = BlockFormat<Scales>;
  if constexpr (Format::kPower) {
    constexpr int kExponent = Format::kFour ? 2 : 8;                // of the largest number, 6 or 448
    constexpr u32 kFraction = Format::kFour ? 0x400000 : 0x600000;  // and its fraction
    const u32 bits = __float_as_uint(greatest);
    if (Format::kFour && bits > 0x7f800000) return {0xff, 0, true, false};
    const int code = max(static_cast<int>(bits >> 23) - kExponent + ((bits & 0x7fffff) > kFraction), 0);
    return {static_cast<u8>(code), __uint_as_float((254u - code) << 23), false, bits < 0x7f800000};
  } else {
    const e4m3 scale = from_f32<e4m3>(greatest == 0 ? 0.0F : __fdiv_rn(__fdiv_rn(greatest, 6.0F), fabsf(unit)));
    const f32 of = to_f32(scale) * unit;
    return {scale.bits, fabsf(of) < 1.17549435e-38F ? 0.0F : __frcp_rn(of), of != of,
            scale.bits >= 8 && scale.bits < 0x7e};
  }
}

// What an element is multiplied by.
template <int Scales> __device__ inline f32 scale_value(u8 code, f32 unit) {
  if constexpr (BlockFormat<Scales>::kPower)
    return code == 0xff ? __uint_as_float(0x7fffffff)
           : code == 0  ? __uint_as_float(0x400000)  // 2^-127, which is not a normal number
                        : __uint_as_float(u32{code} << 23);
  else
    return to_f32(e4m3{code}) * unit;
}

// Where the scale of block `group` of row `row` is in the layout that tcgen05 products take: blocks of 128 rows by 4
// scales, in each of which row r is at r % 32, 4 scales side by side for each r / 32. `across`: blocks along a row.
// PTX ISA 9.0, "Scale factor layouts of tcgen05.mma".
__device__ inline s64 blocked_scale(s64 row, int group, int across) {
  return (row / 128 * across + group / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + group % 4;
}
