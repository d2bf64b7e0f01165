#pragma once
// The shared memory and the tiles of the attention files that multiply numbers of 16 bits by wgmma. T, HD and the
// params of these files are the template's.
#include "device/pipeline/tma_attention.cuh"
#include "device/tile/attention_hooks.cuh"
#include "device/tile/online_softmax.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/wgmma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

using Scores = RegisterTile<layout::Mma<16, BN>>;
using Queries = SharedTile<T, 64, HD, PANEL * 2>;        // of one consumer
using Results = SharedTile<T, 64, DV, VALUE_PANEL * 2>;  // take the place of the queries
using Output = RegisterTile<layout::Mma<16, DV>>;
using Weights = wgmma::Words<T, BN>;
// Where tanh takes the unit of the powers of two, too, one power of 16 of heads of 64 by multiply-adds is 5 % faster.
using Softmax = OnlineSoftmax<Scores, 8, 0, kScoreCapped && HD == 64 ? 16 : 0>;
// Output, scores, weights and queries of a thread must fit in its registers. Heads of 64 wait for exponentials instead.
constexpr bool kQueriesHeld =
    HD > 64 && !kMaskGiven && !kScoreGiven && DV / 2 + BN * 3 / 4 + HD / 4 <= (CONSUMERS == 3 ? 112 : 192);

struct Smem {
  static constexpr bool kTransposes = false;
  static constexpr int kBlocks = CLUSTER;

  Queries q[SLOTS];
  SharedTile<T, BN, HD, PANEL * 2> k[STAGES];
  SharedTile<T, BN, DV, VALUE_PANEL * 2> v[STAGES];
  Pipeline<STAGES, CLUSTER> keys, values;
  Pipeline<SLOTS> queries;  // the slots of tile i: consumers 0, 1, ..., then those of tile i + 1
  Barrier made[SLOTS];      // completed when the slot contains the output
  PublishedSteps<STAGES, kMaskGiven> published;

  __device__ Results& result(u32 slot) { return reinterpret_cast<Results&>(q[slot]); }
  // The values as the second product takes them, and their ring.
  __device__ const auto& factor(u32 slot) const { return v[slot]; }
  __device__ auto& factors() { return values; }
};
static_assert(sizeof(Smem) <= SMEM && sizeof(Results) <= sizeof(Queries));

// Initialises the barriers. Called by one thread, before the block's barrier.
__device__ inline void init(Smem& smem) {
  for (Barrier& made : smem.made) made.init(4);
  smem.queries.init(1);
  smem.keys.init(kMaskGiven ? CONSUMERS * 4 : CONSUMERS);
  smem.values.init(CONSUMERS);
}

#include "device/pipeline/attention_consumer.cuh"

#endif
