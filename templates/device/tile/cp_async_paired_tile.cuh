#pragma once
// Tiles of two matrices filled by cp.async.
#include "device/tile/cp_async_tile.cuh"
#include "device/tile/paired_tile.cuh"

namespace cp_async {

// As the copy of one tile, but it starts at the same row of both.
template <class T, int Extent, int Depth, int Threads, int Access>
class TileCopy<PairedTile<T, Extent, Depth>, Threads, Access> {
  using Tile = PairedTile<T, Extent, Depth>;
  using Half = TileCopy<typename Tile::Half, Threads, Access>;
  Half first_, second_;

 public:
  static constexpr bool kGathers = Half::kGathers;
  static constexpr int kPasses = 2 * Half::kPasses;

  __device__ void start(const View<const T, 2>& first, const View<const T, 2>& second, int row, int extent, int k) {
    first_.start(first, row, extent, k);
    second_.start(second, row, extent, k);
  }
  __device__ void advance() {
    first_.advance();
    second_.advance();
  }
  __device__ void copy(Tile& tile, int index) const {
    if (index < Half::kPasses)
      first_.copy(tile.half(0), index);
    else
      second_.copy(tile.half(1), index - Half::kPasses);
  }
};

}  // namespace cp_async
