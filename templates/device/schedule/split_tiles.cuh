#pragma once
// Output tiles of which each is summed by several blocks: K is divided among Chunks clusters, and in each among Split
// blocks, or the blocks of a cluster share tiles of A and B.
#include "device/ptx/cluster.cuh"

// The work of one block: some steps of a tile.
struct Part {
  int tile, chunk, rank;
  int row, column;  // of tiles
};

// Returns this block's, for a matrix of m by n elements in tiles of TileM by TileN, of which a cluster has ShareM, one
// below the other, times ShareN. The tiles of one chunk are in adjacent blocks, and those along the shorter side of the
// matrix next to each other: L2 serves requests for the same rows of the longer operand together, and waves of blocks
// read that operand once. Its divisions are unsigned, and none finds the only chunk, because all loads wait for them.
template <int TileM, int TileN, int ShareM, int ShareN, int Split, int Chunks>
__device__ inline Part own_part(int m, int n) {
  constexpr int kSharers = ShareM * ShareN;
  static_assert(Split == 1 || kSharers == 1);
  const u32 rows = ceil_div<u32>(m, TileM * ShareM), columns = ceil_div<u32>(n, TileN * ShareN);  // of clusters
  const u32 index = blockIdx.x / (Split * kSharers), chunk = Chunks == 1 ? 0 : index / (rows * columns);
  const u32 tile = index - chunk * (rows * columns);
  const bool tall = m > n;
  const u32 shorter = tall ? columns : rows, line = tile / shorter, place = tile - line * shorter;
  const u32 row = tall ? line : place, column = tall ? place : line;
  const u32 rank = Split == 1 ? 0 : cluster::rank(), member = kSharers == 1 ? 0 : cluster::rank();
  return {static_cast<int>(tile * kSharers + member), static_cast<int>(chunk), static_cast<int>(rank),
          static_cast<int>(row * ShareM + member % ShareM), static_cast<int>(column * ShareN + member / ShareM)};
}
