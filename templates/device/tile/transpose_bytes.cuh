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
  static_assert(Keys % 32 == 0 && Size % 64 == 0);
  constexpr int kAtOnce = 4, kFrom = Swizzle, kTo = TransposedBytes<Keys, Size>::kSwizzle;
  const int lane = threadIdx.x % 32;
  // A panel's addresses differ from those of its first 16 bytes by an exclusive or; one register serves all.
  const u32 row = from.address() + lane * kFrom + swizzle::chunk<kFrom>(lane, 0) * 16;
  const u32 column = to.address() + lane % 16 * kTo + swizzle::chunk<kTo>(lane % 16, lane / 16) * 16;
#pragma unroll 1
  for (int key = warp * 32; key < Keys; key += Warps * 32) {
    const u32 source = row + key * kFrom, target = (column + key / kTo * Size * kTo) ^ (key % kTo);
#pragma unroll(Size <= 128 ? 2 : 1)
    for (int first = 0; first < Size; first += 16 * kAtOnce) {
      mma::Matrices<4> rows[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int at = first + i * 16;
        rows[i] = mma::ldmatrix_x4_trans((source ^ at % kFrom) + at / kFrom * Keys * kFrom);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const u32(&r)[4] = rows[i].r;
        mma::stmatrix_x4(target + (first + i * 16) * kTo, __byte_perm(r[0], r[1], 0x6420),
                         __byte_perm(r[0], r[1], 0x7531), __byte_perm(r[2], r[3], 0x6420),
                         __byte_perm(r[2], r[3], 0x7531));
      }
    }
  }
}
