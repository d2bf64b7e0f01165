#pragma once
// What the attention files for sequences of different lengths that multiply by wgmma share: tiles that blocks draw from
// one list, and a consumer of them. T, the params of these files, Sequences and what it includes of device/schedule and
// device/epilogue are the template's.
#include "device/pipeline/attention_wgmma.cuh"
#include "device/pipeline/published_tiles.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = DrawnAttentionTiles<BM, BN>;
using Work = Tiles::Work;

struct RaggedSmem : Smem {
  using Work = Tiles::Work;
  Work work[SLOTS];        // of the tile whose queries are in the slot
  FoundSteps<Work> found;  // there only under a mask
};
static_assert(sizeof(RaggedSmem) - sizeof(FoundSteps<Work>) <= SMEM && sizeof(FoundSteps<Work>) <= 1024);

// Initialises the barriers. Called by one thread, before the block's barrier.
__device__ inline void init_all(RaggedSmem& smem) {
  init(smem);
  if constexpr (kMaskGiven) smem.found.ring.init(1);
}
using Drawn = PublishedTiles<CONSUMERS, SLOTS, RaggedSmem, Work>;

// Registers of a thread that loads or stores, where two consumers take `taken`: a block is launched with 168.
__device__ constexpr int registers_left(int taken) {
  return CONSUMERS == 3 ? 32 : 504 - 2 * taken;
}

// Computes 64 rows of each of the block's tiles. Called by one consumer warpgroup.
__device__ void consume(RaggedSmem& smem, const HeadNumbers& numbers, const View<T, 3>& O, const View<f32, 2>& L,
                        f32 scale, const Hooks& hooks) {
  const int consumer = threadIdx.x / kWarpgroup, row = threadIdx.x % kWarpgroup / 32 * 16, first = consumer * 64;
  const auto finish = [&](const Output& o, const Softmax& softmax, const Work&, u32 slot) {
    const Work& work = smem.work[slot];
    if constexpr (LSE) store_log_sums(work.log_sums_of(L), softmax, work, threadIdx.x / 32 * 16);
    store(smem.result(slot), row, 0, o);  // overwrites the queries, which only this warpgroup has read
    tma::fence();
    __syncwarp();
    if (work.ends_within(first, 64)) {
      const auto to = [&](int r) {
        return O.data + (s64{work.row} + work.query(first + r)) * O.stride[0] +
               work.head_in_tensor(first + r) * O.stride[1];
      };
      store_ragged_rows<16>(to, smem.result(slot), row, work.rows() - first);
      __syncwarp();
    }
    if (threadIdx.x % 32 == 0) smem.made[slot].arrive();
  };
  Attention<Work, decltype(finish)> attention(smem, hooks, numbers, scale, consumer, finish, {});
  attention.attend(Drawn(smem, consumer));
}

#endif
