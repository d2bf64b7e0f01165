#pragma once
// Sums over the rows of a matrix, which the threads of a persistent grid collect in registers while they walk the rows
// as RegisterRow divides them.
#include "device/reduce/grid_sum.cuh"
#include "device/reduce/register_row.cuh"

// Vectors sums of each column. Blocks have no cluster.
template <int Threads, int Lanes, int Count, int Packs, int Vectors> struct ColumnSums {
  static constexpr int kColumns = Lanes * Packs * Count;

  f32 x[Vectors][Packs * Count] = {};

  // Called once by all threads of the grid, after their last row. store(vector, column, sum) is called in one block for
  // each of kColumns columns. `parts` and `counters` are grid_sum's, with a width of Vectors * kColumns.
  template <class F> __device__ void finish(unsigned char* parts, unsigned char* counters, F store) {
    f32* const part = reinterpret_cast<f32*>(parts) + s64{blockIdx.x} * (Vectors * kColumns);
    if constexpr (Lanes == Threads) {
      add_to<true>(part);
    } else {
      __shared__ f32 sums[Vectors * kColumns];
      for (int row = 0; row < Threads / Lanes; ++row) {
        if (static_cast<int>(threadIdx.x) / Lanes == row) row == 0 ? add_to<true>(sums) : add_to<false>(sums);
        __syncthreads();
      }
      for (int i = threadIdx.x; i < Vectors * kColumns; i += Threads) part[i] = sums[i];
    }
    grid_sum<Threads>(reinterpret_cast<f32*>(parts), reinterpret_cast<u32*>(counters), Vectors * kColumns,
                      [&](int i, const f32(&sum)[4]) {
#pragma unroll
                        for (int k = 0; k < 4; ++k) store(i / kColumns, i % kColumns + k, sum[k]);
                      });
  }

 private:
  // Adds the sums to those at `to`, or puts them there if they are the First.
  template <bool First> __device__ void add_to(f32* to) const {
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
#pragma unroll
      for (int k = 0; k < Packs * Count; ++k) {
        const int column = (k / Count * Lanes + static_cast<int>(threadIdx.x) % Lanes) * Count + k % Count;
        f32& sum = to[v * kColumns + column];
        sum = First ? x[v][k] : sum + x[v][k];
      }
    }
  }
};
