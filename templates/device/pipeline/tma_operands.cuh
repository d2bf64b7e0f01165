#pragma once
// The producer of a matrix product whose operands come by the TMA.
#include "device/pipeline/pipeline.cuh"
#include "device/tile/tma_tile.cuh"

// One thread of each block keeps the slots of `smem.pipeline` full: tiles of A in `smem.a` and of B in `smem.b`, for
// each of `steps` steps along K of each of this block's output tiles. Blocks of a cluster lie one below the other: each
// has its own rows of A, and they share those of B, of which each loads its part into all of them.
template <int Stages, int Blocks, class Smem, class Tiles>
__device__ inline void load_operands(Pipeline<Stages, Blocks>& pipeline, Smem& smem, const CUtensorMap& A,
                                     const CUtensorMap& B, const Tiles& tiles, int steps) {
  Producer producer(pipeline);
  for (const int index : tiles) {
    const auto tile = tiles[index];
    for (int step = 0; step < steps; ++step) {
      const u32 slot = producer.acquire(sizeof(smem.a[0]) + sizeof(smem.b[0]));
      auto& a = smem.a[slot];
      auto& b = smem.b[slot];
      tma::load(a, A, pipeline.full[slot], step * a.kColumns, tile.row * a.kRows);
      tma::load_shares<Blocks>(b, B, pipeline.full[slot], tiles.rank(), step * b.kColumns, tile.column * b.kRows);
    }
  }
}
