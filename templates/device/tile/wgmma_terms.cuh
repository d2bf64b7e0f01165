#pragma once
// Products of a warpgroup on f32 at the accuracy of f32: A in registers and B in shared memory, each as two terms of
// tf32 (tf32_terms.cuh).
#include "device/ptx/wgmma_registers.cuh"
#include "device/tile/mma_tile.cuh"

namespace wgmma {

// The terms of 64 rows of A and K columns, of which each warp has 16 rows.
template <int K> struct Terms {
  u32 high[K / 8][4], low[K / 8][4];

  // Loads this warp's rows, from `row` on, a multiple of 16.
  template <class Tile> __device__ void load(const Tile& from, int row) {
#pragma unroll
    for (int k = 0; k < K / 8; ++k) {
      mma::Operands<f32, 16, 8> operands;
      operands.load_a(from, row, k * 8);
      split_terms(operands.a[0], high[k], low[k]);
    }
  }
};

// Starts d = a * b^T as one group, where b is given by its two terms. The smaller products come first. `a` must not
// change until the group has been waited for.
template <int N, int K>
__device__ inline void multiply(RegisterTile<layout::Mma<16, N>>& d, const Terms<K>& a, const SharedTile<f32, N, K>& b,
                                const SharedTile<f32, N, K>& b_low) {
  using Product = Mma<N, tf32, tf32, f32>;
  const u64 high = b.k_major(), low = b_low.k_major();
  fence();
#pragma unroll
  for (int k = 0; k < K / 8; ++k) Product::rs(d.x, a.low[k], high + k * 2, k > 0);
#pragma unroll
  for (int k = 0; k < K / 8; ++k) Product::rs(d.x, a.high[k], low + k * 2, true);
#pragma unroll
  for (int k = 0; k < K / 8; ++k) Product::rs(d.x, a.high[k], high + k * 2, true);
  commit();
}

}  // namespace wgmma
