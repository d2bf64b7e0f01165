#pragma once
// Stores results by TMA from shared tiles: while one tile is copied, the next is written.
#include "device/epilogue/store_tile.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/tile/tma_tile.cuh"

namespace tma {

// Stores the part of a complete tile inside the tensor to (row, column). Called by Threads threads. TMA clips a store
// to the tensor only in units of 16 bytes (seen on an H100), so a tile with a partial unit at the end of its rows is
// written by ordinary stores. The thread whose threadIdx.x is a multiple of Threads stores, and commits afterwards.
template <int Threads, class T, int Rows, int Columns, int Swizzle>
__device__ inline void store_clipped(const Mapped<T, 2>& to, const SharedTile<T, Rows, Columns, Swizzle>& tile,
                                     Extent tensor, int row, int column) {
  if (row >= tensor.rows || column >= tensor.columns) return;
  const int thread = threadIdx.x % Threads, left = tensor.columns - column;
  if (left >= Columns || left * sizeof(T) % 16 == 0) {
    if (thread == 0) store(to.map, tile, column, row);
  } else {
    store_units<Threads>(to.view, tile, tensor, row, column, thread);
  }
}

// One matrix of a batch.
template <class T> struct MatrixOf {
  const Mapped<T, 3>& batch;
  int index;
};
// The same into a matrix of a batch.
template <int Threads, class T, int Rows, int Columns, int Swizzle>
__device__ inline void store_clipped(const MatrixOf<T>& to, const SharedTile<T, Rows, Columns, Swizzle>& tile,
                                     Extent tensor, int row, int column) {
  if (row >= tensor.rows || column >= tensor.columns) return;
  const int thread = threadIdx.x % Threads, left = tensor.columns - column;
  if (left >= Columns || left * sizeof(T) % 16 == 0) {
    if (thread == 0) store(to.batch.map, tile, {column, row, to.index});
  } else {
    const View<T, 3>& view = to.batch.view;
    const View<T, 2> matrix = {view.data + to.index * view.stride[0], {view.stride[1], view.stride[2]}};
    store_units<Threads>(matrix, tile, tensor, row, column, thread);
  }
}

// Stores Count tiles, Together at a time, which is 1 or all Buffers: while some are copied, the next are written.
// `prepare(n, tile)` is called for each that is to be written at a time, when its buffer is free, then `write(n, tile)`
// writes the n-th tile to it, `written(n)` is called after the fence, which waits for all of the thread's reads, and
// copy(n, tile) starts the copy, as store_clipped does. All of Threads threads call it and synchronise at named barrier
// `id`. Invariant at each barrier: after the first the buffers are free, after the second they are complete. Each time
// is a group of copies, empty if nothing of the tiles is copied, so that with one at a time the last Buffers - 1 groups
// never read the next buffer; the first waits for all where the call before ended with another buffer than the last.
// Unroll is Count if `write` needs n as a constant.
template <int Threads, int Count, int Unroll, int Together, class Shared, int Buffers, class Prepare, class Write,
          class Written, class Copy>
__device__ inline void store_parts(int id, Shared (&buffers)[Buffers], Prepare prepare, Write write, Written written,
                                   Copy copy) {
  static_assert(Together == 1 || Together == Buffers);
#pragma unroll Unroll
  for (int n = 0; n < Count; n += Together) {
    const int end = Count % Together == 0 ? n + Together : min(n + Together, Count);
    if (threadIdx.x % Threads == 0) {
      if (Together == Buffers || (Count % Buffers != 0 && n == 0))
        wait_read<0>();
      else
        wait_read<Buffers - 1>();
    }
    sync(id, Threads);
#pragma unroll
    for (int i = n; i < end; ++i) prepare(i, buffers[i % Buffers]);
#pragma unroll
    for (int i = n; i < end; ++i) write(i, buffers[i % Buffers]);
    fence();
#pragma unroll
    for (int i = n; i < end; ++i) written(i);
    sync(id, Threads);
#pragma unroll
    for (int i = n; i < end; ++i) copy(i, buffers[i % Buffers]);
    if (threadIdx.x % Threads == 0) commit();
  }
}

// The same for tiles side by side, the first at (row, column).
template <int Threads, int Count, int Unroll, int Together, class Shared, int Buffers, class To, class Prepare,
          class Write, class Written>
__device__ inline void store_each(int id, Shared (&buffers)[Buffers], const To& to, Extent tensor, int row, int column,
                                  Prepare prepare, Write write, Written written) {
  static_assert(Count % Buffers == 0);
  store_parts<Threads, Count, Unroll, Together>(id, buffers, prepare, write, written, [&](int n, const Shared& buffer) {
    store_clipped<Threads>(to, buffer, tensor, row, column + n * Shared::kColumns);
  });
}
template <int Threads, int Count, int Unroll, class Shared, int Buffers, class To, class Write>
__device__ inline void store_each(int id, Shared (&buffers)[Buffers], const To& to, Extent tensor, int row, int column,
                                  Write write) {
  store_each<Threads, Count, Unroll, 1>(
      id, buffers, to, tensor, row, column, [](int, Shared&) {}, write, [](int) {});
}

}  // namespace tma
