#pragma once
// Sums over the rows of a matrix, which the threads of a persistent grid collect in registers while they walk the rows
// as RegisterRow divides them.
#include "device/reduce/grid_sum.cuh"
#include "device/reduce/register_row.cuh"

// Vectors sums of each column, or none, of the rows of the grid's workers. Blocks have no cluster. If Shifted, the
// packs of a thread begin `before` columns before those of a row whose first pack begins at column 0, of each thread
// another number but the same in all of its rows.
template <int Threads, int Lanes, int Count, int Packs, int Vectors, bool Shifted = false> class ColumnSums {
 public:
  static constexpr int kColumns = Lanes * Packs * Count;

  f32 x[Vectors > 0 ? Vectors : 1][Packs * Count] = {};

  // `parts` and `counters` are GridSum's, with a width of Vectors * kColumns.
  __device__ ColumnSums(unsigned char* parts, unsigned char* counters) : sum_(parts, counters) {}
  // The blocks that walk the rows: the first of the grid.
  __device__ static int workers() { return Sum::workers(); }
  __device__ static bool is_worker() { return Sum::is_worker(); }

  // Called once by all threads of the grid, by workers after their last row. Calls store(vector, column, sum) for each
  // of kColumns columns, once in the grid.
  template <class F> __device__ void finish(F store, int before = 0) {
    if (is_worker()) write(sum_.part(), before);
    sum_.finish([&](int i, const f32(&sum)[4]) {
#pragma unroll
      for (int k = 0; k < 4; ++k) store(i / kColumns, i % kColumns + k, sum[k]);
    });
  }

 private:
  using Sum = GridSum<Threads, Vectors * kColumns>;

  // Writes the sums of the block's threads.
  __device__ void write(f32* to, int before) const {
    if constexpr (Lanes == Threads) {
      Shifted ? add_each_to<true, false>(to, before) : add_to<true>(to);
      return;
    }
    constexpr int kSums = Vectors * kColumns;
    __shared__ alignas(16) f32 sums[Lanes == Threads ? 4 : Shifted ? padded(kSums) : kSums];
    for (int row = 0; row < Threads / Lanes; ++row) {
      if (static_cast<int>(threadIdx.x) / Lanes == row) {
        if constexpr (Shifted)
          row == 0 ? add_each_to<true, true>(sums, before) : add_each_to<false, true>(sums, before);
        else
          row == 0 ? add_to<true>(sums) : add_to<false>(sums);
      }
      __syncthreads();
    }
    if constexpr (Shifted) {
      for (int i = threadIdx.x; i < kSums; i += Threads) to[i] = sums[padded(i)];
    } else {
      for (int i = threadIdx.x * 4; i < kSums; i += Threads * 4)
        *reinterpret_cast<float4*>(to + i) = *reinterpret_cast<const float4*>(sums + i);
    }
  }
  // With a place left out after 32, what neighbouring threads have of their packs lies in banks of its own.
  __device__ static constexpr int padded(int i) {
    return i + i / 32;
  }
  // What add_to does, element by element, of packs that begin `before` columns before those of other threads. Columns
  // before the first are those behind the last, which no row has.
  template <bool First, bool Padded> __device__ void add_each_to(f32* to, int before) const {
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
#pragma unroll
      for (int k = 0; k < Packs * Count; ++k) {
        const int first = (k / Count * Lanes + static_cast<int>(threadIdx.x) % Lanes) * Count + k % Count - before;
        const int column = v * kColumns + (first < 0 ? first + kColumns : first);
        f32& sum = to[Padded ? padded(column) : column];
        sum = First ? x[v][k] : sum + x[v][k];
      }
    }
  }
  // Adds the sums to those at `to`, or puts them there if they are the First.
  template <bool First> __device__ void add_to(f32* to) const {
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
#pragma unroll
      for (int k = 0; k < Packs * Count; k += 4) {
        const int column = (k / Count * Lanes + static_cast<int>(threadIdx.x) % Lanes) * Count + k % Count;
        float4& sum = *reinterpret_cast<float4*>(to + v * kColumns + column);
        const float4 before = First ? float4{} : sum;
        sum = make_float4(before.x + x[v][k], before.y + x[v][k + 1], before.z + x[v][k + 2], before.w + x[v][k + 3]);
      }
    }
  }

  Sum sum_;
};
