#pragma once
// The results of the backward pass of attention.
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/tma_tile.cuh"

// Scales and rounds a gradient of 64 rows into `tile`, which only this warpgroup has read, and stores it by TMA. Called
// by a warpgroup; uses the named barriers from 1 on, one for each.
template <class T, int Columns, int Swizzle>
__device__ inline void store_gradient(const CUtensorMap& to, SharedTile<T, 64, Columns, Swizzle>& tile,
                                      RegisterTile<layout::Mma<16, Columns>>& x, f32 scale, int row, int head) {
  x.map([=](f32 e) { return e * scale; });
  store(tile, threadIdx.x % kWarpgroup / 32 * 16, 0, x);
  tma::fence();
  sync(1 + threadIdx.x / kWarpgroup, kWarpgroup);
  if (threadIdx.x % kWarpgroup != 0) return;
  tma::store(to, tile, {0, row, head});
  tma::commit();
  tma::wait_read<0>();
}
