#pragma once
// Tiles of consecutive groups of rows with different lengths: the experts of a mixture, the sequences of a batch. No
// tile contains rows of two groups.
#include "device/types.cuh"

// Traverses the tiles of all groups in ascending order, for a block that processes every n-th tile. A negative length
// counts as 0.
template <int TileM> class GroupTiles {
 public:
  __device__ GroupTiles(const View<const s32, 1>& lengths, int groups) : lengths_(lengths), groups_(groups) {
    if (groups_ > 0) length_ = length(0);
  }

  // Advances to the tile of that index, which must not be less than the previous one. Returns false if there is none.
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
  __device__ s64 row() const {
    return row_ + within_;
  }                                                                      // first row of the tile, among all groups'
                                                                         // rows
  __device__ int rows() const { return min(TileM, length_ - within_); }  // rows of the tile, within its group

 private:
  __device__ int length(int group) const { return max(0, lengths_.data[group * lengths_.stride[0]]); }
  __device__ int tiles() const { return ceil_div<u32>(length_, TileM); }

  const View<const s32, 1>& lengths_;
  int groups_, group_ = 0, length_ = 0, first_ = 0, within_ = 0;
  s64 row_ = 0;
};
