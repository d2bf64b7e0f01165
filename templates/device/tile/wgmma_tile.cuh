#pragma once
// Products of a warpgroup on shared tiles, and on tiles in registers, such as the weights of attention.
#include "device/ptx/cvt.cuh"
#include "device/ptx/ldmatrix.cuh"
#include "device/ptx/wgmma_registers.cuh"
#include "device/tile/wgmma_operand_tile.cuh"

namespace wgmma {

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
  using Product = Mma<N, T>;
  fence();
#pragma unroll
  for (int k = 0; k < K; k += 16)
    Product::template rs<Mode<Major::k, Major::mn>>(d.x, a.x[k / 16], b.mn_major(k), true);
  commit();
}

// Starts d = a * b^T as one group, where b has a row for each column of the product.
template <class T, int K, int N, int Swizzle>
__device__ inline void multiply_rows(RegisterTile<layout::Mma<16, N>>& d, const Words<T, K>& a,
                                     const SharedTile<T, N, K, Swizzle>& b) {
  using Product = Mma<N, T>;
  fence();
#pragma unroll
  for (int k = 0; k < K; k += 16)
    Product::template rs<Mode<>>(d.x, a.x[k / 16], b.k_major(0, k / b.kPanel) + k % b.kPanel * sizeof(T) / 16, k > 0);
  commit();
}

// Starts d += a * b for an `a` in shared memory.
template <class T, int K, int N, int Swizzle>
__device__ inline void multiply(RegisterTile<layout::Mma<16, N>>& d, const SharedTile<T, 64, K, Swizzle>& a,
                                const SharedTile<T, K, N, Swizzle>& b) {
  using Product = Mma<N, T>;
  fence();
#pragma unroll
  for (int k = 0; k < K; k += 16)
    Product::template ss<Mode<Major::k, Major::mn>>(d.x, a.k_major(0, k / a.kPanel) + k % a.kPanel * sizeof(T) / 16,
                                                    b.mn_major(k), true);
  commit();
}

}  // namespace wgmma
