#pragma once
// Operand tiles loaded by TMA by boxes, of which those that lie wholly beyond the tensor hold its first rows (or
// columns, where the tile has a row for each column of K). Nothing reads what such rows are multiplied to, and TMA
// fills rows that do not exist at less than half the rate of those that it copies: on an H100, tiles of 128 x 208
// took 1.21 times as long where 144 of the 208 rows of B did not exist. A copy takes the unit at least about 55 cycles
// there, as 20 rows do.
#include "device/tile/operand_tile.cuh"
#include "device/tile/tma_tile.cuh"

namespace tma {

// Loads the tile whose first row is `at` of the tensor's `extent`, which is not 0, from column k on. The map's box has
// Box rows. Each of Blocks blocks of a cluster, of which this one is number `rank`, loads its share of the rows into
// all of them: their ranks in the cluster are `first`, first + Stride, and so on. Every block's `full` must expect the
// whole tile.
template <int Box, int Blocks = 1, int Stride = 1, class T, int Extent, int Depth>
__device__ inline void load_operand(OperandTile<false, T, Extent, Depth>& tile, const CUtensorMap& map, Barrier& full,
                                    int at, int k, int extent, int rank = 0, int first = 0) {
  constexpr int kShare = Extent / Blocks, kBlocks = ((1 << Blocks * Stride) - 1) / ((1 << Stride) - 1);
  static_assert(OperandTile<false, T, Extent, Depth>::kPanels == 1 && kShare * Blocks == Extent && kShare % Box == 0,
                "blocks load equal shares of one panel");
#pragma unroll
  for (int r = 0; r < kShare; r += Box) {
    const int row = rank * kShare + r, from = at + row < extent ? at + row : 0;
    if constexpr (Blocks == 1)
      load(&tile.panel[0][row], map, full, {k, from});
    else
      load_multicast(tile.panel[0][row], map, full, kBlocks << first, {k, from});
  }
}

// The same of a tile that has a row for each column of K: `at` is its first column. A box is a panel.
template <int Box, int Blocks = 1, int Stride = 1, class T, int Extent, int Depth>
__device__ inline void load_operand(OperandTile<true, T, Extent, Depth>& tile, const CUtensorMap& map, Barrier& full,
                                    int at, int k, int extent, int = 0, int = 0) {
  static_assert(Blocks == 1, "blocks share only tiles whose rows lie along K");
#pragma unroll
  for (int p = 0; p < tile.kPanels; ++p) {
    const int column = at + p * tile.kPanel;
    load(&tile.panel[p], map, full, {column < extent ? column : 0, k});
  }
}

// Loads what this block of Blocks that multiply together, the rank-th, has of their tiles beside each other, of which
// this is the index-th: its extent from column k on, counted by the even block's barrier.
template <int Blocks, bool Transposed, class T, int Extent, int Depth>
__device__ inline void load_share(OperandTile<Transposed, T, Extent, Depth>& tile, const CUtensorMap& map,
                                  Barrier& full, int index, int k, int rank) {
  const int at = (index * Blocks + rank) * Extent;
  load_of_pair<Blocks>(tile, map, full, {tile.column(at, k), tile.row(at, k)});
}

}  // namespace tma
