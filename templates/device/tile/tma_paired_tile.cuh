#pragma once
// Tiles of two matrices loaded by TMA.
#include "device/tile/paired_tile.cuh"
#include "device/tile/tma_operand_tile.cuh"

namespace tma {

struct PairedMaps {
  const CUtensorMap &first, &second;
};

// Loads the same rows of both, as load_operand does those of one.
template <int Box, int Blocks = 1, int Stride = 1, class T, int Extent, int Depth>
__device__ inline void load_operand(PairedTile<T, Extent, Depth>& tile, const PairedMaps& maps, Barrier& full, int at,
                                    int k, int extent, int rank = 0, int first = 0) {
  load_operand<Box, Blocks, Stride>(tile.half(0), maps.first, full, at, k, extent, rank, first);
  load_operand<Box, Blocks, Stride>(tile.half(1), maps.second, full, at, k, extent, rank, first);
}

// Loads what this block of Blocks that multiply together, the rank-th, has of the pair of tiles at `at`, innermost
// first: alone both, of two blocks the first one or the second.
template <int Blocks, class T, int Extent, int Depth, int Rank>
__device__ inline void load_share(PairedTile<T, Extent, Depth>& tile, const PairedMaps& maps, Barrier& full, int,
                                  const int (&at)[Rank]) {
  static_assert(Blocks == 1);
  load(tile.half(0), maps.first, full, at);
  load(tile.half(1), maps.second, full, at);
}
template <int Blocks, class T, int Extent, int Depth, int Rank>
__device__ inline void load_share(OperandTile<false, T, Extent, Depth>& tile, const PairedMaps& maps, Barrier& full,
                                  int rank, const int (&at)[Rank]) {
  static_assert(Blocks == 2);
  load_of_pair<Blocks>(tile, rank == 0 ? maps.first : maps.second, full, at);
}
// The same of the index-th pair of tiles, as load_share of one.
template <int Blocks, class Share>
__device__ inline void load_share(Share& tile, const PairedMaps& maps, Barrier& full, int index, int k, int rank) {
  load_share<Blocks>(tile, maps, full, rank, {k, index * tile.kExtent});
}

}  // namespace tma
