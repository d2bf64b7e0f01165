#pragma once
// Stores by TMA to destinations whose results are compared (largest.cuh).
#include "device/epilogue/largest.cuh"
#include "device/epilogue/tma_store.cuh"

namespace tma {

template <int Threads, class To, class Shared>
__device__ inline void store_clipped(const Compared<To>& to, const Shared& tile, Extent tensor, int row, int column) {
  store_clipped<Threads>(to.to, tile, tensor, row, column);
}

}  // namespace tma
