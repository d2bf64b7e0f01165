#pragma once
// Output tiles of TileM by TileN on a grid of persistent blocks: each starts at its own index and advances by the
// number of blocks, so that a grid of fewer blocks leaves SMs to others. Tiles are visited in groups of GroupM rows of
// tiles, column by column, so that concurrent blocks share rows of A and columns of B in L2. A cluster of Blocks blocks
// processes that many tiles at a time, one below the other.
//   for (const int index : tiles) { const Tile tile = tiles[index]; ... }
#include "device/ptx/cluster.cuh"

struct Tile {
  int row, column;  // of tiles
};

template <int TileM, int TileN, int GroupM, int Blocks = 1> class PersistentTiles {
 public:
  // For a matrix of m by n elements.
  __device__ PersistentTiles(int m, int n)
      : rows_(ceil_div<u32>(m, TileM * Blocks)), columns_(ceil_div<u32>(n, TileN)) {}

  // Returns this block's rank in its cluster.
  __device__ static int rank() { return Blocks == 1 ? 0 : cluster::rank(); }

  // Returns this block's tile for the cluster's tile `index`.
  __device__ Tile operator[](int index) const {
    const int group = index / (GroupM * columns_), first = group * GroupM;
    const int height = min(GroupM, rows_ - first), within = index - first * columns_;
    return {(first + within % height) * Blocks + rank(), within / height};
  }

  struct Index {
    int value;
    __device__ int operator*() const { return value; }
    __device__ void operator++() { value += gridDim.x / Blocks; }
    __device__ bool operator!=(const Index& end) const { return value < end.value; }
  };
  __device__ Index begin() const { return {static_cast<int>(blockIdx.x / Blocks)}; }
  __device__ Index end() const { return {rows_ * columns_}; }

 private:
  int rows_, columns_;
};
