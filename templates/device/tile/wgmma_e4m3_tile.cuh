#pragma once
// Products of a warpgroup whose operand A is the accumulators of another, rounded to e4m3, by wgmma. Both of its
// operands lie along K, in the order of transpose_bytes.
#include "device/ptx/fence.cuh"
#include "device/tile/transpose_bytes.cuh"
#include "device/tile/wgmma_tile.cuh"

namespace wgmma {

// 32 columns a product. Lane 4g + q has at positions 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3 the columns that it has in
// accumulators: 2q, 2q + 1, 8 + 2q, 8 + 2q + 1, and these + 16.
template <int K> struct Words<e4m3, K> {
  static_assert(K % 32 == 0);
  u32 x[K / 32][4];

  using Accumulators = RegisterTile<layout::Mma<16, K>>;
  __device__ void round(const Accumulators& from) {
#pragma unroll
    for (int k = 0; k < K / 32; ++k) round(x[k], from, k);
  }
  // Rounds columns 32k to 32k + 31.
  __device__ static void round(u32 (&to)[4], const Accumulators& from, int k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const f32* const pair = &from.x[k * 16 + i / 2 * 8 + i % 2 * 2];  // of row g, or of row g + 8
      to[i] = pack<e4m3>(pair[0], pair[1]) | pack<e4m3>(pair[4], pair[5]) << 16;
    }
  }
};

// The same words in shared memory, for more columns than registers hold.
template <int K> class SharedWords {
 public:
  using Tile = SharedTile<e4m3, 64, K>;

  __device__ explicit SharedWords(Tile& tile) : tile_(tile) {}

  // Called by a warpgroup, of whose products none reads the tile. A warp's 16 rows are read for its own part of the
  // product alone, so that it waits for its own lanes only.
  __device__ void round(const RegisterTile<layout::Mma<16, K>>& from) const {
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane % 16;
#pragma unroll
    for (int k = 0; k < K; k += 32) {
      u32 x[4];
      Words<e4m3, K>::round(x, from, k / 32);
      const u32 at = tile_.part(k / Tile::kPanel).row_address(row, lane / 16 * 16, k % Tile::kPanel);
      mma::stmatrix_x4(at, x[0], x[1], x[2], x[3]);
    }
    ::fence::proxy_async_shared();
    __syncwarp();
  }
  __device__ const Tile& tile() const {
    return tile_;
  }

 private:
  Tile& tile_;
};

// Starts d += a * b as one group, where b has a row for each column of a and a column for each column of the product.
// `a` must not change until the group has been waited for.
template <int K, int N>
__device__ inline void multiply(RegisterTile<layout::Mma<16, N>>& d, const Words<e4m3, K>& a,
                                const TransposedBytes<K, N>& b) {
  fence();
  Chain<N, e4m3, K / 32>::rs(
      d.x, a.x, [&](int i) { return product_of_rows(b, i); }, true);
  commit();
}
template <int K, int N>
__device__ inline void multiply(RegisterTile<layout::Mma<16, N>>& d, const SharedWords<K>& a,
                                const TransposedBytes<K, N>& b) {
  fence();
  Chain<N, e4m3, K / 32>::ss(
      d.x, [&](int i) { return product_of_rows(a.tile(), i); }, [&](int i) { return product_of_rows(b, i); }, true);
  commit();
}

}  // namespace wgmma
