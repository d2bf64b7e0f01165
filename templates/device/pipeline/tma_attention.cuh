#pragma once
// The producer of attention kernels whose operands are loaded by TMA.
#include "device/pipeline/pipeline.cuh"
#include "device/tile/tma_tile.cuh"

// Called by one thread. Loads the queries of the block's tile into `smem.q`, on the barrier `smem.queries`, and step by
// step the keys and values into the slots of `smem.pipeline`, in `smem.k` and `smem.v`. Tensors are [head, row,
// element]. Loop invariant: before step i, the keys and values of steps 0 to i - 1 have been requested in order, each
// in the slot that its acquire returned; at most as many steps as slots are not yet released.
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
