#pragma once
// Shared-memory matrix descriptors, which describe an operand's tile to wgmma and tcgen05.mma. PTX ISA 9.0,
// "Asynchronous warpgroup level matrix shared memory layout", "Matrix Descriptor Format"; "Tcgen05 Shared memory
// descriptor".
//
// K-major tiles consist of rows (of M or N) along K, MN-major tiles of rows (of K) along M or N. With swizzle, a row
// has the swizzle's width and eight rows are contiguous; `stride` is the distance between groups of eight rows. In
// MN-major tiles `leading` is the distance between widths of M or N; K-major tiles ignore it, and the address advances
// along K. Without swizzle, the tile consists of core matrices of 8 rows x 16 bytes, each contiguous in 128 bytes.
// K-major: `leading` is the distance between core matrices along K, `stride` along M or N. MN-major: `leading` along K,
// `stride` along M or N.
#include "device/types.cuh"

namespace matrix {

// Returns bits 62 and 63 of a wgmma descriptor; bits 61 to 63 of tcgen05's contain twice the value.
__device__ constexpr u64 swizzle_code(int bytes) {
  return bytes == 128 ? 1 : bytes == 64 ? 2 : bytes == 32 ? 3 : 0;
}

// `address` is a shared-memory address, a multiple of 16. The tile is aligned to its swizzle's period of 8 rows; if it
// is not, `base_offset` is bits 7 to 9 of the address at which the period begins. `leading` and `stride` are in bytes.
template <int Swizzle> __device__ inline u64 descriptor(u32 address, u32 leading, u32 stride, u32 base_offset = 0) {
  static_assert(Swizzle == 0 || Swizzle == 32 || Swizzle == 64 || Swizzle == 128);
  return u64{(address & 0x3FFFF) >> 4} | u64{(leading & 0x3FFFF) >> 4} << 16 | u64{(stride & 0x3FFFF) >> 4} << 32 |
         u64{base_offset & 7} << 49 | swizzle_code(Swizzle) << 62;
}

}  // namespace matrix
