#pragma once
// The order in which persistent blocks visit output tiles: bands of `Band` tile rows, column by column, so that
// the blocks running at the same time share rows of A and columns of B in L2.

struct Tile {
  int row, column;
};

template <int Band> __device__ inline Tile tile_at(int index, int rows, int columns) {
  const int band = index / (Band * columns), first = band * Band;
  const int height = min(Band, rows - first), within = index - first * columns;
  return {first + within % height, within / height};
}
