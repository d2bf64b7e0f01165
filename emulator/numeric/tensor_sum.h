// Sums of floating-point products as a tensor core computes them. The model was determined by comparison with results
// of an H100 and an H200 until every bit agreed (tests/emulator/tensor_sum_test.cpp has samples).
//
// One instruction adds all its products and C at once:
//  - A product is exact. Its exponent is the sum of its factors' exponents; a subnormal has the least exponent of its
//    format.
//  - All addends are aligned to the largest exponent among C and the non-zero products. Their bits below 2^-fraction of
//    it are truncated towards zero before the addition.
//  - The sum is truncated towards zero to `significand` bits; with f16 accumulators it is rounded to the nearest f16
//    instead. A sum of zero, or rounded to zero, is +0, and every NaN is 0x7fffffff.
// On Hopper the fraction has 25 bits and the significand 24; for wgmma of 8-bit floats they have 13 and 14, which makes
// long sums inexact. mma.sync of 8-bit floats is composed of f16 multiplications there (mma_sync.cpp). Later
// architectures are assumed to have 25 and 24 for every type, which has not been verified on a device.
#pragma once

#include "emulator/numeric/format.h"
#include "emulator/numeric/multiply.h"

namespace tma_jit::emulator::numeric {

// Computes the exponents and the properties of the first `count` values.
void find_exponents(Format format, Factor& factor, u32 count);

void multiply(const FloatTile& tile);

}  // namespace tma_jit::emulator::numeric
