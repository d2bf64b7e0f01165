#pragma once
// Tiles of groups of rows of different lengths that lie one after the other: the experts of a mixture, the sequences of
// a batch. No tile holds rows of two groups.
#include "device/types.cuh"

// Goes over the tiles of all groups in ascending order, as a block does that takes every n-th tile. A length below 0
// counts as 0.
template <int TileM> class GroupTiles {
 public:
  __device__ GroupTiles(const View<const s32, 1>& lengths, int groups) : lengths_(lengths), groups_(groups) {
    if (groups_ > 0) length_ = length(0);
  }

  // Moves on to the tile of that index, which is not less than the one before; false where there is none.
  __device__ bool seek(int index) {
    while (group_ < groups_ && index - first_ >= tiles()) {
      first_ += tiles();
      row_ += length_;
      if (++group_ < groups_) length_ = length(group_);
    }
    within_ = (index - first_) * TileM;
    return group_ < groups_;
  }
  __device__ int group() const { return group_; }
  __device__ s64 row() const { return row_ + within_; }                  // of the tile, in all groups' rows
  __device__ int rows() const { return min(TileM, length_ - within_); }  // of the tile, in its group

 private:
  __device__ int length(int group) const { return max(0, lengths_.data[group * lengths_.stride[0]]); }
  __device__ int tiles() const { return ceil_div<u32>(length_, TileM); }

  const View<const s32, 1>& lengths_;
  int groups_, group_ = 0, length_ = 0, first_ = 0, within_ = 0;
  s64 row_ = 0;
};
