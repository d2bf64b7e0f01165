#pragma once
// How the blocks of a grid walk over rows of tiles: every tile is reduced once, and done when all tiles of its row have
// been reduced; and at the end some items are done that need all rows. A block takes a tile that can be done before one
// that is to be reduced, so that L2 still has it, and never waits for other blocks while there is one to reduce: those
// that it waits for then have been taken by blocks that run. The tiles of a row are done in the reverse order, because
// L2 has the last ones rather than the first ones.
#include "device/ptx/relaxed.cuh"
#include "device/reduce/grid.cuh"

struct WalkItem {
  enum Kind { kReduce, kFinish, kEnd, kNone };

  Kind kind;
  int row, tile;  // of kEnd: the tile is the number of the item among these
};

// What blocks tell each other in global memory, which is 0 before a launch and after it: the numbers of the next tiles
// to be reduced and to be done, and of the next item at the end; the blocks that have left; and for each row the tiles
// that have been reduced, and whether what they give has been joined.
struct WalkCounters {
  static constexpr int kWords = 4;  // before those of rows

  u32* words;

  // Called by the thread that wrote what a tile of the row gives, after that. Returns whether it was the last one of
  // `tiles`; the caller then sees what gave all of them.
  __device__ bool reduced(int row, int tiles) const {
    fence::acq_rel_gpu();
    if (static_cast<int>(atomicAdd(&of(row)[0], 1)) != tiles - 1) return false;
    fence::acq_rel_gpu();
    return true;
  }
  // Called by the thread that wrote what all tiles of the row give together.
  __device__ void joined(int row) const {
    fence::acq_rel_gpu();
    relaxed::store(&of(row)[1], 1);
  }
  // Whether that has been called. A fence::acq_rel_gpu() must follow before what was written is read.
  __device__ bool is_joined(int row) const { return relaxed::load(&of(row)[1]) != 0; }
  __device__ void wait(int row) const {
    while (!is_joined(row)) __nanosleep(40);
  }
  // Called by all threads of each block when it takes no more items.
  __device__ void leave(int rows) const {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) last = last_arriver(&words[3], gridDim.x);
    __syncthreads();
    if (!last) return;
    for (s64 i = threadIdx.x; i < kWords + 2 * s64{rows}; i += blockDim.x)
      if (i != 3) words[i] = 0;
  }

 private:
  __device__ u32* of(int row) const { return words + kWords + 2 * s64{row}; }
};

// The items of a block, which one thread takes.
class TileWalk {
 public:
  __device__ TileWalk(const WalkCounters& counters, int rows, int tiles, int ends)
      : counters_(counters), tiles_(tiles), all_(rows * tiles), ends_(ends) {
    take(0, reduce_), take(1, finish_);
  }
  // The next item, of kind kNone behind the last one.
  __device__ WalkItem next() {
    if (finish_ < all_ && (finish_ / tiles_ == joined_ || reduce_ >= all_ || counters_.is_joined(finish_ / tiles_))) {
      const int row = finish_ / tiles_, tile = tiles_ - 1 - finish_ % tiles_;
      if (row != joined_) {
        counters_.wait(row);
        fence::acq_rel_gpu();
        joined_ = row;
      }
      take(1, finish_);  // it is on the way while this one is copied
      return {WalkItem::kFinish, row, tile};
    }
    if (reduce_ < all_) {
      const WalkItem item = {WalkItem::kReduce, reduce_ / tiles_, reduce_ % tiles_};
      take(0, reduce_);
      return item;
    }
    int end;
    take(2, end);
    return {end < ends_ ? WalkItem::kEnd : WalkItem::kNone, 0, end};
  }

 private:
  __device__ void take(int word, int& number) const { number = static_cast<int>(atomicAdd(&counters_.words[word], 1)); }

  const WalkCounters& counters_;
  const int tiles_, all_, ends_;  // tiles of a row, and of all
  int reduce_, finish_;           // numbers of the block's next tiles
  int joined_ = -1;               // a row that has been joined
};
