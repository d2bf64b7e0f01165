#pragma once
// The swizzles of shared memory, on which TMA, wgmma, tcgen05.mma and cp.async agree. Rows are as wide as the swizzle:
// 32, 64 or 128 bytes. The 16-byte chunks of a row are permuted so that reading the same column of eight rows causes no
// bank conflict. The pattern repeats every eight rows, to which a tile's base must be aligned. Width 0 means no
// swizzle. PTX ISA 9.0, "Tensor Swizzle Modes".
#include "device/types.cuh"

namespace swizzle {

// Returns the position, in 16-byte chunks, of chunk `chunk` in row `row`.
template <int Width> __device__ constexpr int chunk(int row, int chunk) {
  static_assert(Width == 0 || Width == 32 || Width == 64 || Width == 128);
  if constexpr (Width == 0)
    return chunk;
  else
    return chunk ^ row / (128 / Width) % (Width / 16);
}

// Returns where a byte of a tile moves, counted from the tile's base: the number of its `piece` bytes is XORed with low
// bits of the number of its 128 bytes. The function is its own inverse.
__device__ constexpr u32 moved(u32 byte, u32 width, u32 piece = 16) {
  return width == 0 ? byte : byte ^ (byte >> 7) % (width / piece) * piece;
}

}  // namespace swizzle
