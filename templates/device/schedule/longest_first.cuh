#pragma once
// Tiles whose work grows with their row, as under a causal mask, assigned from the longest to the shortest, so that no
// long one remains for the end. `columns` tiles have the same row: heads and batches.
#include "device/types.cuh"

struct LongestFirst {
  int rows, columns;

  __device__ int count() const { return rows * columns; }
  __device__ int row(int index) const { return rows - 1 - index / columns; }
  __device__ int column(int index) const { return index % columns; }
};
