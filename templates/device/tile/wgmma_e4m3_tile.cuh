#pragma once
// Products of a warpgroup whose operand A is the accumulators of another, rounded to e4m3, by wgmma. Both of its
// operands lie along K, in the order of transpose_bytes.
#include "device/tile/transpose_bytes.cuh"
#include "device/tile/wgmma_tile.cuh"

namespace wgmma {

// 32 columns a product. Lane 4g + q has at positions 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3 the columns that it has in
// accumulators: 2q, 2q + 1, 8 + 2q, 8 + 2q + 1, and these + 16.
template <int K> struct Words<e4m3, K> {
  static_assert(K % 32 == 0);
  u32 x[K / 32][4];

  __device__ void round(const RegisterTile<layout::Mma<16, K>>& from) {
#pragma unroll
    for (int i = 0; i < K / 8; ++i) {
      const f32* const pair = &from.x[i / 4 * 16 + i % 4 / 2 * 8 + i % 2 * 2];  // of row g, or of row g + 8
      x[i / 4][i % 4] = pack<e4m3>(pair[0], pair[1]) | pack<e4m3>(pair[4], pair[5]) << 16;
    }
  }
};

// Starts d += a * b as one group, where b has a row for each column of a and a column for each column of the product.
// `a` must not change until the group has been waited for.
template <int K, int N>
__device__ inline void multiply(RegisterTile<layout::Mma<16, N>>& d, const Words<e4m3, K>& a,
                                const TransposedBytes<K, N>& b) {
  using Product = Mma<N, e4m3>;
  fence();
#pragma unroll
  for (int k = 0; k < K; k += 32) Product::rs(d.x, a.x[k / 32], b.k_major(0, k / b.kPanel) + k % b.kPanel / 16, true);
  commit();
}

}  // namespace wgmma
