#pragma once
// The rows of a cache of latent attention as TMA loads them. T, KD, HD, BN and RUN are the template's.
#include "device/pipeline/attention_latent.cuh"

#ifndef TMA_JIT_REFERENCE

// Loads the keys of the block's steps, as runs of RUN rows of one page, by as many lanes. Called by one warp.
template <class Work>
__device__ inline void load_latent(Smem& smem, const CUtensorMap& C, const PagedKeys<RUN>& table, const Work& work) {
  const int lane = threadIdx.x % 32, row = lane * RUN;
  const auto look_up = [&](int round) {
    const int key = work.key(round, 0) + row;
    return row < BN && key < work.keys ? table.place(key) : Place{-1, 0};  // no page has the number -1: zeros
  };
  Place ahead = look_up(work.rounds.first);
  Producer left(smem.half[0]), right(smem.half[1]), rest(smem.rest);
#pragma unroll 1
  for (int round = work.rounds.first; round < work.rounds.end; ++round) {
    const Place at = ahead;
    ahead = look_up(round + 1);
    const auto load = [&](Pipeline<2>& pipeline, Producer<2, 1>& producer, int first, int columns) {
      const u32 slot = producer.acquire();
      Barrier& full = pipeline.full[slot];
      if (lane == 0) full.expect(BN * columns * sizeof(T));
      __syncwarp();
      if (row >= BN) return;
#pragma unroll  // consumers wait for the last of these, which follow each other faster than in a loop
      for (int column = first; column < first + columns; column += LatentTile::kPanel)
        tma::load(&smem.k[slot].panel[column / LatentTile::kPanel][row], C, full, {column, at.row, at.page});
    };
    load(smem.half[0], left, 0, kHalf);
    load(smem.half[1], right, kHalf, kHalf);
    load(smem.rest, rest, HD, KD - HD);
  }
}

#endif
