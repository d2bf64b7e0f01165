#pragma once
// Rows of elements at any stride, such as the columns of a matrix, which each pass over a row reads again.
//
// What kernels of such rows share of their manifests, which `use` this:
//! param   ROWS    = 32    in {1, 32}               "rows of a block, which neighbouring threads read"
//! param   THREADS = 512   in {128, 512}            "of a block"
//!
//! launch  grid ceil_div(M, ROWS)  block THREADS
#include "device/reduce/block.cuh"

template <int Threads, int Rows> struct StridedSmem {
  static constexpr int kValues = Rows == 1 ? Threads / 32 : Threads;
  f32 partial[kValues];
};

// A thread's part of a row: every so many of its elements. Neighbouring threads have neighbouring rows.
template <int Threads, int Rows> struct StridedRow {
  static constexpr int kLanes = Threads / Rows;
  static constexpr int kUnroll = 8;  // elements that a thread has in flight
  using Smem = StridedSmem<Threads, Rows>;

  const int row, columns;
  const bool inside;  // whether there is such a row

  __device__ StridedRow(int rows, int columns)
      : row(static_cast<int>(blockIdx.x * u32{Rows} + threadIdx.x % Rows)),
        columns(columns),
        inside(blockIdx.x * u32{Rows} + threadIdx.x % Rows < static_cast<u32>(rows)) {}

  // Calls f(x, j) for each of the thread's columns j with x = read(j), after the reads of several columns.
  template <class Read, class F> __device__ void each(Read read, F f) const {
    if (!inside) return;
    for (s64 first = threadIdx.x / Rows; first < columns; first += kUnroll * kLanes) {
      f32 x[kUnroll] = {};
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        if (first + u * kLanes < columns) x[u] = read(static_cast<int>(first + u * kLanes));
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        if (first + u * kLanes < columns) f(x[u], static_cast<int>(first + u * kLanes));
    }
  }
  // The sum of f(x) over the row's elements x.
  template <class Read, class F> __device__ f32 sum(Smem& smem, Read read, F f) const {
    f32 all = 0;
    if (inside) {
      for (s64 first = threadIdx.x / Rows; first < columns; first += kUnroll * kLanes) {
        f32 part = 0;  // a long sum of sums loses less than a longer one of elements
#pragma unroll
        for (int u = 0; u < kUnroll; ++u)
          if (first + u * kLanes < columns) part += f(read(static_cast<int>(first + u * kLanes)));
        all += part;
      }
    }
    return combined(smem, all, 0.0F, [](f32 a, f32 b) { return a + b; });
  }
  // Combines a value of each thread of a row into one that all get. Called by all threads of the block, each time with
  // another `smem`.
  template <class X, class F> __device__ X combined(Smem& smem, X x, X neutral, F f) const {
    static_assert(sizeof(X) == sizeof(f32));
    auto& partial = reinterpret_cast<X(&)[Smem::kValues]>(smem.partial);
    if constexpr (Rows == 1) {
      return block_reduce<Threads>(x, partial, neutral, f);
    } else {
      partial[threadIdx.x] = x;
      __syncthreads();
      x = partial[threadIdx.x % Rows];
#pragma unroll
      for (int lane = 1; lane < kLanes; ++lane) x = f(x, partial[lane * Rows + threadIdx.x % Rows]);
      return x;
    }
  }
};
