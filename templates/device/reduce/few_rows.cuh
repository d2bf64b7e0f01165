#pragma once
// The sums of a product of few rows, of which each warp of a block has made a part.
#include "device/types.cuh"

// What Warps warps have made of Rows x Columns sums, in shared memory. Four columns more, so that a warp's stores use
// all banks.
template <class Sum, int Warps, int Rows, int Columns> struct FewRowsSums {
  Sum sums[Warps][Rows][Columns + 4];

  // Writes this warp's, the Sums of a RowStep, a row of D after the other.
  template <class Sums> __device__ void publish(const Sums& of) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < Columns / 16; ++j)
#pragma unroll
      for (int i = 0; i < Rows / 8; ++i)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          sums[warp][i * 8 + lane % 4 * 2 + r % 2][j * 16 + r / 2 * 8 + lane / 4] = of.x[j][i][r];
  }
  // Returns the sum of what all warps have published.
  __device__ Sum sum(int row, int column) const {
    Sum sum = sums[0][row][column];
#pragma unroll
    for (int warp = 1; warp < Warps; ++warp) sum += sums[warp][row][column];
    return sum;
  }
};
