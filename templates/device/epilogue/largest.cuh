#pragma once
// The largest magnitude of all results of a kernel, before they are rounded, from which the scale of a quantised tensor
// follows. A destination says whether its results are compared: as Compared<D> they are, and nothing else changes.
#include "device/epilogue/store_tile.cuh"
#include "device/ptx/acq_rel.cuh"
#include "device/tile/register_tile.cuh"
#include "device/types.cuh"

// In global memory; 0 before and after each launch.
struct LargestState {
  u32 bits;     // of the largest magnitude so far
  u32 arrived;  // what has been compared
};

namespace tma {

// Refers to the destination, which must outlive it.
template <class To> struct Compared {
  const To& to;
  LargestState* state;
};

}  // namespace tma

// Returns the destination, compared if `Used`.
template <bool Used, class To> __device__ inline decltype(auto) compared(const To& to, u8* state) {
  if constexpr (Used)
    return tma::Compared<To>{to, reinterpret_cast<LargestState*>(state)};
  else
    return (to);
}

// Returns the destination itself.
template <class To> __device__ inline const To& uncompared(const To& to) {
  return to;
}
template <class To> __device__ inline const To& uncompared(const tma::Compared<To>& to) {
  return to.to;
}

// Compares the part of a tile of results inside the tensor, whose first element is (row, column). Transposed: the
// tile's rows are columns of the tensor. Called by the whole warp. NaN is larger than every number.
template <bool Transposed = false, class To, class L, class X>
__device__ inline void compare(const To&, const RegisterTile<L, X>&, Extent, int, int) {}
template <bool Transposed = false, class To, class L, class X>
__device__ inline void compare(const tma::Compared<To>& to, const RegisterTile<L, X>& results, Extent tensor, int row,
                               int column) {
  const int rows = (Transposed ? tensor.columns - column : tensor.rows - row);
  const int columns = (Transposed ? tensor.rows - row : tensor.columns - column);
  u32 bits = 0;
#pragma unroll
  for (int i = 0; i < L::kRegisters; ++i) {
    if (L::row(L::slot(i)) < rows && L::column(i) < columns)
      bits = max(bits, __float_as_uint(static_cast<f32>(results.x[i])) & 0x7fffffff);
  }
  bits = __reduce_max_sync(0xffffffff, bits);
  if (threadIdx.x % 32 == 0) atomicMax(&to.state->bits, bits);
}

// Called by each warp that compares, after the last comparison: `share` of its results, of `whole` of all warps. The
// last warp stores the result.
template <class To> __device__ inline void finish_compare(const To&, const View<f32, 1>&, u32, u32) {}
template <class To>
__device__ inline void finish_compare(const tma::Compared<To>& to, const View<f32, 1>& largest, u32 share, u32 whole) {
  if (threadIdx.x % 32 > 0 || share == 0) return;
  fence::acq_rel_gpu();
  if (atomicAdd(&to.state->arrived, share) + share != whole) return;
  fence::acq_rel_gpu();
  to.state->arrived = 0;
  *largest.data = __uint_as_float(atomicExch(&to.state->bits, 0));
}
