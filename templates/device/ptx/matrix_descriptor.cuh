#pragma once
// Shared-memory matrix descriptors: how wgmma and tcgen05.mma find an operand's tile. PTX ISA 9.0, "Asynchronous
// warpgroup level matrix shared memory layout", "Matrix Descriptor Format"; "Tcgen05 Shared memory descriptor".
//
// K-major tiles are rows (of M or N) along K, MN-major tiles are rows (of K) along M or N. Swizzled, a row is one
// swizzle width of bytes and eight rows follow one another; `stride` is from one group of eight rows to the next, and
// in MN-major tiles `leading` is from one width of M or N to the next (K-major tiles ignore it: step along K by the
// address). Unswizzled, the tile is made of core matrices of 8 rows x 16 bytes, each 128 bytes in one piece. K-major:
// `leading` is from one core matrix to the next along K, `stride` along M or N. MN-major: `leading` along K, `stride`
// along M or N.
#include "device/types.cuh"

namespace matrix {

// Bits 62 and 63 of a wgmma descriptor; bits 61 to 63 of tcgen05's are twice as much.
__device__ constexpr u64 swizzle_code(int bytes) {
  return bytes == 128 ? 1 : bytes == 64 ? 2 : bytes == 32 ? 3 : 0;
}

// `address` is a shared-memory address, a multiple of 16; the tile is aligned to its swizzle's period of 8 rows, or
// else bits 7 to 9 of the address where the period begins go into `base_offset`. `leading` and `stride` are bytes.
template <int Swizzle> __device__ inline u64 descriptor(u32 address, u32 leading, u32 stride, u32 base_offset = 0) {
  static_assert(Swizzle == 0 || Swizzle == 32 || Swizzle == 64 || Swizzle == 128);
  return u64{(address & 0x3FFFF) >> 4} | u64{(leading & 0x3FFFF) >> 4} << 16 | u64{(stride & 0x3FFFF) >> 4} << 32 |
         u64{base_offset & 7} << 49 | swizzle_code(Swizzle) << 62;
}

}  // namespace matrix
