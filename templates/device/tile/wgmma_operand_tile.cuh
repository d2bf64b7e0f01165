#pragma once
// Products of a warpgroup on shared tiles, both of which have their rows along K or are operand tiles. The accumulators
// of each warp are 16 of the 64 rows.
#include "device/ptx/wgmma_integers.cuh"
#include "device/tile/operand_tile.cuh"
#include "device/tile/register_tile.cuh"
#include "device/tile/shared_tile.cuh"
#include "device/tile/unit_types.cuh"

namespace wgmma {

// Starts d (+)= a * b^T as one group: the 64 rows of `a` from `row` on and the N rows of `b` from `b_row` on, over the
// columns of both. The product overwrites d unless `accumulate`.
template <class T, class U, int Rows, int Columns, int N, int K, int Swizzle>
__device__ inline void multiply(RegisterTile<layout::Mma<16, N>, typename Unit<T>::Sum>& d,
                                const SharedTile<T, Rows, K, Swizzle>& a, int row,
                                const SharedTile<U, Columns, K, Swizzle>& b, int b_row, bool accumulate) {
  using Product = Mma<N, typename Unit<T>::Type, typename Unit<U>::Type, typename Unit<T>::Sum>;
  auto& sums = reinterpret_cast<typename Product::Register(&)[Product::registers]>(d.x);
  fence();
#pragma unroll
  for (int p = 0; p < a.kPanels; ++p) {
    const u64 a_panel = a.k_major(row, p), b_panel = b.k_major(b_row, p);
#pragma unroll
    for (int k = 0; k < a.kPanel; k += Product::kDepth)
      Product::ss(sums, a_panel + k * sizeof(T) / 16, b_panel + k * sizeof(T) / 16, accumulate || p + k > 0);
  }
  commit();
}
// The same for all rows of `b`.
template <class T, class U, int Rows, int N, int K, int Swizzle>
__device__ inline void multiply(RegisterTile<layout::Mma<16, N>, typename Unit<T>::Sum>& d,
                                const SharedTile<T, Rows, K, Swizzle>& a, int row,
                                const SharedTile<U, N, K, Swizzle>& b, bool accumulate) {
  multiply(d, a, row, b, 0, accumulate);
}

// The same for operands in either major order. `row` is a multiple of 64.
template <bool TransposedA, bool TransposedB, class T, class U, int Rows, int N, int K>
__device__ inline void multiply(RegisterTile<layout::Mma<16, N>, typename Unit<T>::Sum>& d,
                                const OperandTile<TransposedA, T, Rows, K>& a, int row,
                                const OperandTile<TransposedB, U, N, K>& b, bool accumulate) {
  if constexpr (!TransposedA && !TransposedB) {
    multiply(d, static_cast<const typename OperandTile<false, T, Rows, K>::Shared&>(a), row,
             static_cast<const typename OperandTile<false, U, N, K>::Shared&>(b), accumulate);
  } else {
    using Orders = Mode<TransposedA ? Major::mn : Major::k, TransposedB ? Major::mn : Major::k>;
    using Product = Mma<N, T>;
    fence();
#pragma unroll
    for (int k = 0; k < K; k += Product::kDepth) {
      u64 from_a, from_b;
      if constexpr (TransposedA)
        from_a = a.mn_major(k, row / 64);
      else
        from_a = a.k_major(row) + k * sizeof(T) / 16;
      if constexpr (TransposedB)
        from_b = b.mn_major(k);
      else
        from_b = b.k_major() + k * sizeof(T) / 16;
      Product::template ss<Orders>(d.x, from_a, from_b, accumulate || k > 0);
    }
    commit();
  }
}

}  // namespace wgmma
