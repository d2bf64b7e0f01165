#pragma once
// Tiles of bytes transposed in shared memory for products that take them only along K, by ldmatrix and stmatrix, which
// move pairs of bytes: what a lane then has is put in order by one instruction a word. The order of K and that of the
// columns are permuted so that accumulators are operands without a shuffle.
#include "device/ptx/ldmatrix.cuh"
#include "device/ptx/stmatrix.cuh"
#include "device/tile/shared_tile.cuh"

// A tile of Keys rows of Size bytes, as transpose_bytes leaves it.
template <int Keys, int Size> struct TransposedBytes : SharedTile<e4m3, Size, Keys> {};

// Transposes `from` to `to`. Of each 32 of K, position 16h + 4q + 2e + b is row 16h + 8e + 2q + b of `from`, which is
// what lane q has in accumulators whose columns are these rows. Of each 16 rows of `to`, the first 8 are the even
// columns of `from`, and the others the odd ones. Called by Warps warps, of which this one is number `warp`.
template <int Warps, int Keys, int Size, int Swizzle>
__device__ inline void transpose_bytes(TransposedBytes<Keys, Size>& to,
                                       const SharedTile<e4m3, Keys, Size, Swizzle>& from, int warp) {
  static_assert(Keys % 32 == 0 && Size % 16 == 0);
  constexpr int kAcross = Size / 16, kUnits = Keys / 32 * kAcross;
  const int lane = threadIdx.x % 32;
#pragma unroll 2
  for (int unit = warp; unit < kUnits; unit += Warps) {
    const int key = unit / kAcross * 32, column = unit % kAcross * 16;
    const mma::Matrices<4> rows = mma::ldmatrix_x4_trans(smem_address(&from.at(key + lane, column)));
    mma::stmatrix_x4(smem_address(&to.at(column + lane % 16, key + lane / 16 * 16)),
                     __byte_perm(rows.r[0], rows.r[1], 0x6420), __byte_perm(rows.r[0], rows.r[1], 0x7531),
                     __byte_perm(rows.r[2], rows.r[3], 0x6420), __byte_perm(rows.r[2], rows.r[3], 0x7531));
  }
}
