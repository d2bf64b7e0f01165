#pragma once
// Products of a warpgroup on shared tiles, and on tiles in registers, such as the weights of attention.
#include "device/ptx/cvt.cuh"
#include "device/ptx/ldmatrix.cuh"
#include "device/ptx/wgmma_chain.cuh"
#include "device/tile/wgmma_operand_tile.cuh"

namespace wgmma {

// Returns the descriptor of the columns of product `i` along the rows of a tile.
template <class T, int Rows, int Columns, int Swizzle>
__device__ inline u64 product_of_rows(const SharedTile<T, Rows, Columns, Swizzle>& tile, int i) {
  const int column = i * 32 / int{sizeof(T)};
  return tile.k_major(0, column / tile.kPanel) + column % tile.kPanel * sizeof(T) / 16;
}

// An operand A of 64 rows and K columns of a 16-bit T in the registers of a warpgroup.
template <class T, int K> struct Words {
  u32 x[K / 16][4];

  // Rounds accumulators of other products.
  __device__ void round(const RegisterTile<layout::Mma<16, K>>& from) {
#pragma unroll
    for (int i = 0; i < K / 4; ++i) x[i / 4][i % 4] = pack<T>(from.x[i * 2], from.x[i * 2 + 1]);
  }
  // Loads a tile in shared memory.
  template <int Swizzle> __device__ void load(const SharedTile<T, 64, K, Swizzle>& from) {
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane % 16;
#pragma unroll
    for (int k = 0; k < K; k += 16) {
      const auto matrices = mma::ldmatrix_x4(smem_address(&from.at(row, k + lane / 16 * 8)));
#pragma unroll
      for (int i = 0; i < 4; ++i) x[k / 16][i] = matrices.r[i];
    }
  }
};

// Starts d += a * b as one group, where b has a row for each column of a and a column for each column of the product.
// `a` must not change until the group has been waited for.
template <class T, int K, int N, int Swizzle>
__device__ inline void multiply(RegisterTile<layout::Mma<16, N>>& d, const Words<T, K>& a,
                                const SharedTile<T, K, N, Swizzle>& b) {
  fence();
  Chain<N, T, K / 16, Mode<Major::k, Major::mn>>::rs(
      d.x, a.x, [&](int i) { return b.mn_major(i * 16); }, true);
  commit();
}

// Starts d = a * b^T as one group, where b has a row for each column of the product.
template <class T, int K, int N, int Swizzle>
__device__ inline void multiply_rows(RegisterTile<layout::Mma<16, N>>& d, const Words<T, K>& a,
                                     const SharedTile<T, N, K, Swizzle>& b) {
  fence();
  Chain<N, T, K / 16>::rs(
      d.x, a.x, [&](int i) { return product_of_rows(b, i); }, false);
  commit();
}
// The same for an `a` in shared memory.
template <class T, int K, int N, int Swizzle>
__device__ inline void multiply_rows(RegisterTile<layout::Mma<16, N>>& d, const SharedTile<T, 64, K, Swizzle>& a,
                                     const SharedTile<T, N, K, Swizzle>& b) {
  fence();
  Chain<N, T, K * sizeof(T) / 32>::ss(
      d.x, [&](int i) { return product_of_rows(a, i); }, [&](int i) { return product_of_rows(b, i); }, false);
  commit();
}

// Starts d += a * b for an `a` in shared memory.
template <class T, int K, int N, int Swizzle>
__device__ inline void multiply(RegisterTile<layout::Mma<16, N>>& d, const SharedTile<T, 64, K, Swizzle>& a,
                                const SharedTile<T, K, N, Swizzle>& b) {
  fence();
  Chain<N, T, K / 16, Mode<Major::k, Major::mn>>::ss(
      d.x, [&](int i) { return product_of_rows(a, i); }, [&](int i) { return b.mn_major(i * 16); }, true);
  commit();
}

}  // namespace wgmma
