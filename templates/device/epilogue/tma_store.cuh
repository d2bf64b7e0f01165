#pragma once
// Results out by the TMA, through shared tiles that are written while others are on their way.
#include "device/epilogue/store_tile.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/tile/tma_tile.cuh"

namespace tma {

// Called by Threads threads once a tile is whole: its part inside the tensor goes to (row, column). The copy engine
// clips a store to the tensor in units of 16 bytes only (seen on an H100), so a tile that holds a ragged end of the
// rows is written element by element. Stores are committed by the thread whose threadIdx.x is a multiple of Threads.
template <int Threads, class T, int Rows, int Columns, int Swizzle>
__device__ inline void store_clipped(const Mapped<T, 2>& to, const SharedTile<T, Rows, Columns, Swizzle>& tile,
                                     Extent tensor, int row, int column) {
  if (row >= tensor.rows || column >= tensor.columns) return;
  const int thread = threadIdx.x % Threads, left = tensor.columns - column;
  if (left >= Columns || left * sizeof(T) % 16 == 0) {
    if (thread == 0) {
      store(to.map, tile, column, row);
      commit();
    }
  } else {
    store_elements<Threads>(to.view, tile, tensor, row, column, thread);
  }
}

// Stores Count tiles side by side, the first at (row, column), Buffers at a time. `write(n, tile)` puts the n-th into
// its buffer; all of Threads threads, which meet at named barrier `id`, take part. The copies go on while the next
// tiles are written. Invariant at each barrier: first, the buffers are free; second, they are whole. Unroll is Count /
// Buffers where `write` needs a constant n.
template <int Threads, int Count, int Unroll, class Shared, int Buffers, class T, class Write>
__device__ inline void store_each(int id, Shared (&buffers)[Buffers], const Mapped<T, 2>& to, Extent tensor, int row,
                                  int column, Write write) {
#pragma unroll Unroll
  for (int first = 0; first < Count; first += Buffers) {
    if (threadIdx.x % Threads == 0) wait_read<0>();
    sync(id, Threads);
#pragma unroll
    for (int i = 0; i < Buffers; ++i) write(first + i, buffers[i]);
    fence();
    sync(id, Threads);
#pragma unroll
    for (int i = 0; i < Buffers; ++i)
      store_clipped<Threads>(to, buffers[i], tensor, row, column + (first + i) * Shared::kColumns);
  }
}

}  // namespace tma
