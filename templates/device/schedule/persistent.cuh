#pragma once
// Output tiles of TileM by TileN on a grid of persistent blocks: each starts at its own index and advances by the
// number of blocks, so that a grid of fewer blocks leaves SMs to others. Tiles are visited in groups of GroupM rows of
// tiles, column by column, so that concurrent blocks share rows of A and columns of B in L2. A cluster processes Beside
// columns of Blocks tiles at a time.
//   for (const int index : tiles) { const Tile tile = tiles[index]; ... }
#include "device/ptx/cluster.cuh"

struct Tile {
  int row, column;  // of tiles
};

template <int TileM, int TileN, int GroupM, int Blocks = 1, int Beside = 1> class PersistentTiles {
 public:
  // For a matrix of m by n elements.
  __device__ PersistentTiles(int m, int n)
      : rows_(ceil_div<u32>(m, TileM * Blocks)), columns_(ceil_div<u32>(n, TileN * Beside)) {}

  // Returns this block's rank in its cluster.
  __device__ static int rank() { return Blocks * Beside == 1 ? 0 : cluster::rank(); }
  // Returns its row and its column in its cluster.
  __device__ static int below() { return rank() % Blocks; }
  __device__ static int beside() { return rank() / Blocks; }

  // Returns this block's tile for the cluster's tile `index`.
  __device__ Tile operator[](int index) const {
    const u32 first = index / (GroupM * columns_) * GroupM, height = min(u32{GroupM}, rows_ - first);
    const u32 within = index - first * columns_, column = within / height;
    const int row = first + within - column * height;
    return {row * Blocks + below(), static_cast<int>(column) * Beside + beside()};
  }

  struct Index {
    int value;
    __device__ int operator*() const { return value; }
    __device__ void operator++() { value += gridDim.x / (Blocks * Beside); }
    __device__ bool operator!=(const Index& end) const { return value < end.value; }
  };
  __device__ Index begin() const { return {static_cast<int>(blockIdx.x / (Blocks * Beside))}; }
  __device__ Index end() const { return {static_cast<int>(rows_ * columns_)}; }

 private:
  u32 rows_, columns_;  // unsigned, because their divisions take fewer instructions
};
