#pragma once
// The steps of a sum over K divided among blocks: into equal parts of each tile (split-K), or into equal parts of all
// steps of all tiles, regardless of the tiles' boundaries (stream-K). Parts differ by at most one step.
#include "device/types.cuh"

struct Range {
  int first, end;
};

// Returns the part-th of `parts` parts of `count` steps; empty if there are more parts than steps.
__device__ inline Range split(int count, int parts, int part) {
  return {static_cast<int>(s64{count} * part / parts), static_cast<int>(s64{count} * (part + 1) / parts)};
}

// The contiguous steps of a tile that one worker computes. The worker with a tile's first step begins it, the one with
// the last step ends it; a tile with several workers is summed in ascending order of their pieces.
struct Piece {
  int tile;
  Range steps;
};

// One worker's pieces of `tiles` tiles of `steps` steps each, in ascending order.
//   for (StreamK work(tiles, steps, workers, worker); work.more(); work.next()) { const Piece piece = work.piece(); ...
//   }
class StreamK {
 public:
  __device__ StreamK(int tiles, int steps, int workers, int worker)
      : steps_(steps), at_(s64{tiles} * steps * worker / workers), end_(s64{tiles} * steps * (worker + 1) / workers) {}

  __device__ bool more() const { return at_ < end_; }
  __device__ Piece piece() const {
    const int tile = static_cast<int>(at_ / steps_), first = static_cast<int>(at_ % steps_);
    return {tile, {first, static_cast<int>(min(s64{steps_}, first + end_ - at_))}};
  }
  __device__ void next() {
    const Piece done = piece();
    at_ += done.steps.end - done.steps.first;
  }

 private:
  int steps_;
  s64 at_, end_;  // steps, counted over all tiles
};
