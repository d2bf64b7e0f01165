#pragma once
// Stores the rows of a shared tile of 16-bit floats among which a sequence ends, where TMA would overwrite the next
// one.
#include "device/tile/shared_tile.cuh"

// Stores Count rows from `row` on, those before `rows`; to(row) is where a row's elements go, a multiple of 16 bytes.
// Called by all lanes of a warp.
template <int Count, class To, class T, int Rows, int Columns, int Swizzle>
__device__ inline void store_ragged_rows(To to, const SharedTile<T, Rows, Columns, Swizzle>& tile, int row, int rows) {
  constexpr int kAcross = Columns / 8;
  for (int i = threadIdx.x % 32; i < Count * kAcross; i += 32) {
    const int r = row + i / kAcross, c = i % kAcross * 8;
    if (r < rows) *reinterpret_cast<uint4*>(to(r) + c) = tile.template at<uint4>(r, c);
  }
}
