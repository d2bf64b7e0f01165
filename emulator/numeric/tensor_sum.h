// How a tensor core adds up products of floats, found by trying models against an H100's and an H200's results until
// every bit agreed (tests/emulator/tensor_sum_test.cpp holds some of them).
//
// One instruction adds all its products and C at once:
//  - A product is exact. Its exponent is the sum of its factors' exponents, a subnormal's being the format's least.
//  - The largest exponent among the products that are not zero and C is where all addends are aligned: bits of each
//    below 2^-fraction of it are cut off, towards zero, before they are added.
//  - Bits of the sum below its first `significand` ones are cut off, towards zero; with f16 accumulators the sum is
//    rounded to the nearest f16 instead. A sum of zero, or rounded to zero, is +0, and every NaN is 0x7fffffff.
// On Hopper the fraction is 25 bits and the significand 24; wgmma of 8-bit floats has 13 and 14, which is why long sums
// of them drift. mma.sync of 8-bit floats is made of f16 ones there (mma_sync.cpp). Later architectures are taken to
// have 25 and 24 for every type: nobody has seen them on a device.
#pragma once

#include "emulator/numeric/format.h"
#include "emulator/numeric/multiply.h"

namespace tma_jit::emulator::matrix {

// Fills in the exponents and the reach of the first `count` values.
void find_exponents(number::Format format, Factor& factor, u32 count);

void multiply(const FloatTile& tile);

}  // namespace tma_jit::emulator::matrix
