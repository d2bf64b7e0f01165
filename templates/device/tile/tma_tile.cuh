#pragma once
// Shared tiles loaded and stored by TMA, one box per panel. Coordinates are those of the tile's first element.
#include "device/ptx/tma.cuh"
#include "device/ptx/tma_pair.cuh"
#include "device/tile/shared_tile.cuh"

namespace tma {

template <class T, int Rows, int Columns, int Swizzle>
__device__ inline void load(SharedTile<T, Rows, Columns, Swizzle>& tile, const CUtensorMap& map, Barrier& full,
                            int column, int row) {
#pragma unroll
  for (int p = 0; p < tile.kPanels; ++p) load(&tile.panel[p], map, full, {column + p * tile.kPanel, row});
}

// From a tensor of Rank dimensions; the tile lies in the innermost and one other.
template <class T, int Rows, int Columns, int Swizzle, int Rank>
__device__ inline void load(SharedTile<T, Rows, Columns, Swizzle>& tile, const CUtensorMap& map, Barrier& full,
                            const int (&at)[Rank]) {
#pragma unroll
  for (int p = 0; p < tile.kPanels; ++p) {
    int first[Rank];
#pragma unroll
    for (int i = 0; i < Rank; ++i) first[i] = at[i] + (i == 0 ? p * tile.kPanel : 0);
    load(&tile.panel[p], map, full, first);
  }
}

// The same where the map's box has only Box rows, so that tiles of different rows can be loaded with one map.
template <int Box, class T, int Rows, int Columns, int Swizzle, int Rank>
__device__ inline void load_boxes(SharedTile<T, Rows, Columns, Swizzle>& tile, const CUtensorMap& map, Barrier& full,
                                  const int (&at)[Rank]) {
  static_assert(Rows % Box == 0 && Box % 8 == 0, "a tile has whole boxes, each of whole periods of the swizzle");
#pragma unroll 1
  for (int r = 0; r < Rows * tile.kPanels; r += Box) {
    const int p = r / Rows;
    int first[Rank];
#pragma unroll
    for (int i = 0; i < Rank; ++i) first[i] = at[i] + (i == 0 ? p * tile.kPanel : i == 1 ? r % Rows : 0);
    load(&tile.panel[p][r % Rows], map, full, first);
  }
}

// Each of the Blocks blocks of a cluster, of which this one is number `rank`, loads its share of the rows into all of
// them. Every block's `full` must expect the whole tile. The map's box has Rows / Blocks rows.
template <int Blocks, class T, int Rows, int Columns, int Swizzle>
__device__ inline void load_shares(SharedTile<T, Rows, Columns, Swizzle>& tile, const CUtensorMap& map, Barrier& full,
                                   int rank, int column, int row) {
  constexpr int kShare = Rows / Blocks, kAll = (1 << Blocks) - 1;
  static_assert(Blocks == 1 || (kShare * Blocks == Rows && (Swizzle == 0 || Columns * sizeof(T) == Swizzle)),
                "blocks load equal shares of the rows of one panel");
  if constexpr (Blocks == 1)
    load(tile, map, full, column, row);
  else
    load_multicast(tile.panel[0][rank * kShare], map, full, kAll, {column, row + rank * kShare});
}

// Each block of a pair (PTX's cta_group::2) loads a tile of its own, counted by the even block's barrier. Blocks 1
// means no pair.
template <int Blocks, class T, int Rows, int Columns, int Swizzle, int Rank>
__device__ inline void load_of_pair(SharedTile<T, Rows, Columns, Swizzle>& tile, const CUtensorMap& map, Barrier& full,
                                    const int (&at)[Rank]) {
  if constexpr (Blocks == 1) {
    load(tile, map, full, at);
  } else {
#pragma unroll
    for (int p = 0; p < tile.kPanels; ++p) {
      int first[Rank];
#pragma unroll
      for (int i = 0; i < Rank; ++i) first[i] = at[i] + (i == 0 ? p * tile.kPanel : 0);
      load_pair(&tile.panel[p], map, full, first);
    }
  }
}

template <class T, int Rows, int Columns, int Swizzle>
__device__ inline void store(const CUtensorMap& map, const SharedTile<T, Rows, Columns, Swizzle>& tile, int column,
                             int row) {
#pragma unroll
  for (int p = 0; p < tile.kPanels; ++p) store(map, &tile.panel[p], {column + p * tile.kPanel, row});
}

// Into a tensor of Rank dimensions; the tile lies in the innermost and one other.
template <class T, int Rows, int Columns, int Swizzle, int Rank>
__device__ inline void store(const CUtensorMap& map, const SharedTile<T, Rows, Columns, Swizzle>& tile,
                             const int (&at)[Rank]) {
#pragma unroll
  for (int p = 0; p < tile.kPanels; ++p) {
    int first[Rank];
#pragma unroll
    for (int i = 0; i < Rank; ++i) first[i] = at[i] + (i == 0 ? p * tile.kPanel : 0);
    store(map, &tile.panel[p], first);
  }
}

}  // namespace tma
