#pragma once
// The producer of attention whose operands come by the TMA.
#include "device/pipeline/pipeline.cuh"
#include "device/tile/tma_tile.cuh"

// One thread: `smem.q` gets the queries of the block's tile, counted by `smem.queries`, and the slots of
// `smem.pipeline` its keys and values, in `smem.k` and `smem.v`, a step at a time. Tensors are [head, row,
// element].
template <class Smem, class Work>
__device__ inline void load_attention(Smem& smem, const CUtensorMap& Q, const CUtensorMap& K, const CUtensorMap& V,
                                      const Work& work) {
  if (work.steps == 0) return;
  smem.queries.expect(sizeof(smem.q));
  tma::load(smem.q, Q, smem.queries, {0, work.first, work.head});
  Producer producer(smem.pipeline);
  for (int step = 0; step < work.steps; ++step) {
    const u32 slot = producer.acquire(sizeof(smem.k[0]) + sizeof(smem.v[0]));
    const int row = step * smem.k[0].kRows;
    tma::load(smem.k[slot], K, smem.pipeline.full[slot], {0, row, work.kv_head});
    tma::load(smem.v[slot], V, smem.pipeline.full[slot], {0, row, work.kv_head});
  }
}
