#pragma once
// The loop of attention_decode: each warp copies its own steps of keys and values through a ring of its own, so that
// the warps of a block wait for each other only for the queries. T, HD, ROWS, BN, STAGES and WARPS are the template's.
#include "device/pipeline/cp_async_pipeline.cuh"
#include "device/pipeline/key_copy.cuh"
#include "device/tile/mma_tile.cuh"
#include "device/tile/online_softmax.cuh"

#ifndef TMA_JIT_REFERENCE

using Scores = RegisterTile<layout::Mma<ROWS, BN>>;
using Values = RegisterTile<layout::Mma<ROWS, HD>>;
using Ring = KeysAndValues<T, BN, HD>[STAGES];

// Starts copying the queries of the block's rows; rows beyond them become zeros.
template <class Work>
__device__ inline void copy_queries(SharedTile<T, ROWS, HD>& to, const View<const T, 4>& Q, const Work& work) {
  constexpr int kAcross = HD / 8;
#pragma unroll
  for (int i = threadIdx.x; i < ROWS * kAcross; i += 32 * WARPS) {
    const int row = i / kAcross, column = i % kAcross * 8;
    const T* const from =
        Q.data + work.sequence * Q.stride[0] + work.token(row) * Q.stride[1] + work.head(row) * Q.stride[2] + column;
    cp_async::cg(smem_address(&to.at(row, column)), from, row < work.rows ? 16 : 0);
  }
}

// Adds this warp's steps to its state of the softmax and its weighted sums of values. score(x, head, query, key) is
// what becomes of a scaled product. Called by the whole block once the copies of the queries have started.
template <class Work, class Table, class Score>
__device__ inline void attend(const SharedTile<T, ROWS, HD>& q, Ring& ring, KeyCopy<Table, T, BN, HD>& copy,
                              const Work& work, f32 scale, const Score& score, OnlineSoftmax<Scores>& softmax,
                              Values& values) {
  using Layout = Scores::Layout;
  const auto rounds = work.rounds();
  const int warp = threadIdx.x / 32;
  CpAsyncPipeline<STAGES, RingOf::warp> pipeline;
  const auto load = [&](int round) {
    const u32 slot = pipeline.acquire();
    if (round < rounds.end) {
      copy.start(ring[slot], work.key(round, warp));
      if (round + 1 < rounds.end) copy.look_up(work.key(round + 1, warp));
    }
    pipeline.commit();
  };
  if (rounds.first < rounds.end) copy.look_up(work.key(rounds.first, warp));
  for (int i = 0; i < STAGES - 1; ++i) load(rounds.first + i);
  int head[Layout::kRowSlots], query[Layout::kRowSlots];
#pragma unroll
  for (int s = 0; s < Layout::kRowSlots; ++s)
    head[s] = work.head(Layout::row(s)), query[s] = work.query(Layout::row(s));
  cp_async::wait<STAGES - 2>();
  __syncthreads();  // the queries have arrived, with each thread's first group
#pragma unroll 1
  for (int round = rounds.first; round < rounds.end; ++round) {
    const u32 full = pipeline.wait();
    load(round + STAGES - 1);
    Scores s = {};
    mma::multiply(s, q, 0, ring[full].k);
    const int first = work.key(round, warp);
#pragma unroll
    for (int i = 0; i < Layout::kRegisters; ++i) {
      const int slot = Layout::slot(i), key = first + Layout::column(i);
      s.x[i] = key <= query[slot] ? score(s.x[i] * scale, head[slot], query[slot], key) : softmax.kMasked;
    }
    values.map_rows(softmax.weigh(s), [](f32 x, f32 factor) { return x * factor; });
    mma::multiply_rounded(values, s, ring[full].v);
  }
  cp_async::wait_all();
}

#endif
