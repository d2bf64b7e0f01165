#pragma once
// The swizzles of shared memory, in which the TMA, wgmma, tcgen05.mma and cp.async agree on where a tile's bytes lie.
// Rows are as wide as the swizzle: 32, 64 or 128 bytes. The 16-byte chunks of a row change places so that eight rows
// that are read at one column meet in no bank. The pattern repeats every eight widths, to which a tile's base is
// aligned. Width 0 is no swizzle. PTX ISA 9.0, "Tensor Swizzle Modes".
#include "device/types.cuh"

namespace swizzle {

// The 16-byte chunk of row `row` in which its chunk `chunk` lies.
template <int Width> __device__ constexpr int chunk(int row, int chunk) {
  static_assert(Width == 0 || Width == 32 || Width == 64 || Width == 128);
  if constexpr (Width == 0)
    return chunk;
  else
    return chunk ^ row / (128 / Width) % (Width / 16);
}

}  // namespace swizzle
