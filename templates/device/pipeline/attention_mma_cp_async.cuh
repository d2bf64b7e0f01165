#pragma once
// What the files of attention by mma.sync and cp.async share: a tile of queries, of which each warp has 16, against the
// steps of keys that it sees. T, HD, BM, BN, STAGES, THREADS and SMEM are the template's.
#include "device/pipeline/attention_steps.cuh"
#include "device/pipeline/cp_async_pipeline.cuh"
#include "device/tile/attention_hooks.cuh"
#include "device/tile/cp_async_tile.cuh"
#include "device/tile/mma_tile.cuh"
#include "device/tile/online_softmax.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

using Scores = RegisterTile<layout::Mma<16, BN>>;
using Output = RegisterTile<layout::Mma<16, DV>>;
using Results = SharedTile<T, BM, DV>;  // in place of the queries

struct Smem {
  SharedTile<T, BM, HD> q;
  SharedTile<T, BN, HD> k[STAGES];
  SharedTile<T, BN, DV> v[STAGES];

  __device__ Results& results() { return reinterpret_cast<Results&>(q); }
};
static_assert(sizeof(Smem) == SMEM);

// Starts copying the rows from `row` on, and fills the tile with zeros after the last of `rows`.
template <class Tile> __device__ inline void copy_rows(Tile& to, const View<const T, 2>& from, int row, int rows) {
#pragma unroll
  for (int p = 0; p < Tile::kPanels; ++p) {
    cp_async::TileCopy<typename Tile::Part, THREADS, 16> copy;
    copy.start({from.data + p * Tile::kPanel, {from.stride[0], from.stride[1]}}, row, rows, Tile::kPanel);
#pragma unroll
    for (int i = 0; i < copy.kPasses; ++i) copy.copy(to.part(p), i);
  }
}

// The keys and values of a head, which are rows of tensors.
struct HeadRows {
  View<const T, 2> keys, values;
  int count;

  // Starts copying those of a step. Called by all threads of the block.
  __device__ void copy(Smem& smem, u32 slot, int step) const {
    copy_rows(smem.k[slot], keys, step * BN, count);
    copy_rows(smem.v[slot], values, step * BN, count);
  }
};

// Adds up the output of the warp's queries, and its weights in `softmax`. `queries` are rows of the tile's head, and
// `source` copies its keys and values. Called by all threads of the block; afterwards the queries' place in shared
// memory is free for results.
template <class Work, class Source>
__device__ inline void attend(Smem& smem, const Work& work, const View<const T, 2>& queries, const Source& source,
                              f32 scale, const Hooks& hooks, OnlineSoftmax<Scores>& softmax, Output& o) {
  const int row = threadIdx.x / 32 * 16;
  CpAsyncPipeline<STAGES> pipeline;
  const ScoreHooks<Work> scores = {hooks, work};
  const auto load = [&](int step) {
    const u32 slot = pipeline.acquire();
    if (step >= 0) source.copy(smem, slot, step);
    pipeline.commit();
  };
  copy_rows(smem.q, queries, work.first, work.queries);
  using Seen = SeenSteps<BN, TileMask<Work>>;
  AheadSteps<STAGES - 1, kMaskGiven, Seen> steps(work.steps, Seen(work.steps, work.keys, {hooks, work}));
  for (int i = 0; i < STAGES - 1; ++i) load(steps.fetch());

#pragma unroll 1
  while (steps.more()) {
    const u32 slot = pipeline.wait();
    load(steps.fetch());
    Scores s = {};
    mma::multiply(s, smem.q, row, smem.k[slot]);
    scores.apply(s, scale, row, steps.current() * BN, steps.whole(), softmax.kMasked);
    o.map_rows(softmax.weigh(s), [](f32 x, f32 factor) { return x * factor; });
    mma::multiply_rounded(o, s, smem.v[slot]);
  }
  o.map_rows(softmax.inverse_sums(), [](f32 x, f32 factor) { return x * factor; });
  cp_async::wait_all();  // without keys, the copy of the queries may be incomplete
  __syncthreads();
}

#endif
