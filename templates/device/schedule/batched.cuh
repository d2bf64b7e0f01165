#pragma once
// The output tiles of a batch of equal matrices on a grid of persistent blocks, one matrix after another.
#include "device/schedule/persistent.cuh"

struct BatchTile {
  int row, column;  // of tiles
  int matrix;
};

// Its tiles number less than 2^31. A cluster of Blocks blocks processes that many tiles at a time, one below the other.
template <int TileM, int TileN, int GroupM, int Blocks = 1> class BatchTiles {
 public:
  // For `count` matrices of m by n elements.
  __device__ BatchTiles(int count, int m, int n) : tiles_(m, n), each_(*tiles_.end()), end_(count * each_) {}

  __device__ static int rank() { return PersistentTiles<TileM, TileN, GroupM, Blocks>::rank(); }
  __device__ BatchTile operator[](int index) const {
    const int matrix = static_cast<u32>(index) / static_cast<u32>(each_);
    const Tile tile = tiles_[index - matrix * each_];
    return {tile.row, tile.column, matrix};
  }

  using Index = typename PersistentTiles<TileM, TileN, GroupM, Blocks>::Index;
  __device__ Index begin() const { return tiles_.begin(); }
  __device__ Index end() const { return {end_}; }

 private:
  PersistentTiles<TileM, TileN, GroupM, Blocks> tiles_;
  int each_, end_;  // tiles of a matrix, and of all
};
