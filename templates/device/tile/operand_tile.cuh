#pragma once
// Shared tiles of a product's operands in either major order.
#include "device/tile/shared_tile.cuh"

// A tile of Extent rows of A or B and Depth columns, along K: as it is (K-major), or transposed, with a row for each
// column of K (MN-major), in panels of 128 bytes. `column` and `row` are where it lies in its tensor.
template <bool Transposed, class T, int Extent, int Depth> struct OperandTile : SharedTile<T, Extent, Depth> {
  using Shared = SharedTile<T, Extent, Depth>;
  static constexpr int kExtent = Extent, kDepth = Depth;
  __device__ static int column(int, int k) { return k; }
  __device__ static int row(int first, int) { return first; }
};
template <class T, int Extent, int Depth>
struct OperandTile<true, T, Extent, Depth> : SharedTile<T, Depth, Extent, 128> {
  static_assert(sizeof(T) <= 2, "wgmma and ldmatrix read only 16-bit elements MN-major, tcgen05 8-bit ones too");
  static constexpr int kExtent = Extent, kDepth = Depth;
  __device__ static int column(int first, int) { return first; }
  __device__ static int row(int, int k) { return k; }
};
