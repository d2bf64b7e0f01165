#pragma once
// Stores a shared tile to a tensor of two dimensions: 16 bytes at a time, or element by element where the tensor ends
// within the tile or its rows are not aligned.
#include "device/tile/shared_tile.cuh"

struct Extent {
  int rows, columns;
};

// Stores the part of the tile inside the tensor to (row, column). Called by Threads threads; `thread` is the caller's
// index.
template <int Threads, class T, int Rows, int Columns, int Swizzle>
__device__ inline void store_elements(const View<T, 2>& to, const SharedTile<T, Rows, Columns, Swizzle>& tile,
                                      Extent tensor, int row, int column, int thread) {
  const int left = tensor.columns - column;
#pragma unroll 1
  for (int i = thread; i < Rows * Columns; i += Threads) {
    const int r = i / Columns, c = i % Columns;
    if (c < left && row + r < tensor.rows)
      to.data[(row + r) * to.stride[0] + (column + c) * to.stride[1]] = tile.at(r, c);
  }
}

// The same where every row begins at a multiple of 16 bytes and its elements are contiguous: by 16-byte accesses, and
// element by element only in the 16 bytes within which a row of the tensor ends.
template <int Threads, class T, int Rows, int Columns, int Swizzle>
__device__ inline void store_units(const View<T, 2>& to, const SharedTile<T, Rows, Columns, Swizzle>& tile,
                                   Extent tensor, int row, int column, int thread) {
  constexpr int kCount = 16 / sizeof(T), kAcross = Columns / kCount;
  const int left = tensor.columns - column;
#pragma unroll 1
  for (int i = thread; i < Rows * kAcross; i += Threads) {
    const int r = i / kAcross, c = i % kAcross * kCount;
    if (row + r >= tensor.rows || c >= left) continue;
    T* const unit = to.data + (row + r) * to.stride[0] + column + c;
    if (left - c >= kCount) {
      *reinterpret_cast<uint4*>(unit) = tile.template at<uint4>(r, c);
    } else {
#pragma unroll 1
      for (int e = 0; e < left - c; ++e) unit[e] = tile.at(r, c + e);
    }
  }
}

// Returns whether every row of the tensor begins at a multiple of 16 bytes and its elements are contiguous.
template <class T> __device__ inline bool rows_of_16_bytes(const View<T, 2>& tensor) {
  return reinterpret_cast<u64>(tensor.data) % 16 == 0 && tensor.stride[0] * sizeof(T) % 16 == 0 &&
         tensor.stride[1] == 1;
}

// The same, with 16-byte accesses if `vectors` (rows_of_16_bytes of the tensor) and no row ends within the tile.
template <int Threads, class T, int Rows, int Columns, int Swizzle>
__device__ inline void store_rows(const View<T, 2>& to, const SharedTile<T, Rows, Columns, Swizzle>& tile,
                                  Extent tensor, int row, int column, int thread, bool vectors) {
  constexpr int kCount = 16 / sizeof(T), kAcross = Columns / kCount;
  if (!vectors || column + Columns > tensor.columns) {
    store_elements<Threads>(to, tile, tensor, row, column, thread);
    return;
  }
  const int c = thread % kAcross * kCount;
#pragma unroll
  for (int r = thread / kAcross; r < Rows; r += Threads / kAcross) {
    if (row + r < tensor.rows)
      *reinterpret_cast<uint4*>(to.data + (row + r) * to.stride[0] + column + c) = tile.template at<uint4>(r, c);
  }
}
