#pragma once
// The loop of attention_decode: each warp copies its own steps of keys and values through a ring of its own, so that
// the warps of a block wait for each other only for the queries. T, C, HD, ROWS, BN, STAGES, WARPS and Hooks are the
// template's.
#include "device/pipeline/cp_async_pipeline.cuh"
#include "device/pipeline/key_copy.cuh"
#include "device/tile/mma_e4m3_tile.cuh"
#include "device/tile/online_softmax.cuh"

#ifndef TMA_JIT_REFERENCE

using Scores = RegisterTile<layout::Mma<ROWS, BN>>;
using Values = RegisterTile<layout::Mma<ROWS, HD>>;
using Ring = KeysAndValues<C, BN, HD>[STAGES];

// Starts copying the queries of the block's rows; rows beyond them become zeros.
template <class Work>
__device__ inline void copy_queries(SharedTile<T, ROWS, HD>& to, const View<const T, 4>& Q, const Work& work) {
  constexpr int kAcross = HD / 8, kChunks = ROWS * kAcross, kThreads = 32 * WARPS;
#pragma unroll
  for (int first = 0; first < kChunks; first += kThreads) {
    const int i = first + threadIdx.x, row = i / kAcross, column = i % kAcross * 8;
    if (kChunks % kThreads != 0 && i >= kChunks) break;
    const T* const from =
        Q.data + work.sequence * Q.stride[0] + work.token(row) * Q.stride[1] + work.head(row) * Q.stride[2] + column;
    cp_async::cg(smem_address(&to.at(row, column)), from, row < work.rows ? 16 : 0);
  }
}

// Adds this warp's steps to its state of the softmax, of scores that the hook has seen scaled, and its weighted sums of
// values. Called by the whole block. The first STAGES - 1 rounds only start copies, so that the instructions that do
// so, which a kernel's start waits for, are there once; the queries follow the first keys. The work is kept in shared
// memory for what comes after, which saves registers.
template <class Work, class Table>
__device__ inline void attend(SharedTile<T, ROWS, HD>& q, const View<const T, 4>& Q, Ring& ring,
                              KeyCopy<Table, C, BN, HD>& copy, Work& work, Work& kept, const Dims& dims, f32 scale,
                              const Hooks& hooks, OnlineSoftmax<Scores>& softmax, Values& values) {
  using Layout = Scores::Layout;
  constexpr int kSteps = KeyCopy<Table, C, BN, HD>::kSteps, kApart = WARPS * BN;
  const int warp = threadIdx.x / 32, start = work.rounds.first - (STAGES - 1);
  CpAsyncPipeline<STAGES, RingOf::warp> pipeline;
  __shared__ int head[ROWS], query[ROWS];
  copy.look_up(work.key(work.rounds.first, warp), kApart);
#pragma unroll 1
  for (int round = start; round < work.rounds.end; ++round) {
    const u32 full = round < work.rounds.first ? 0 : pipeline.wait();
    if (round == work.rounds.first) __syncthreads();  // the queries have arrived, with each thread's first group
    const int next = round + STAGES - 1, step = (round - start) % kSteps;
    if (next < work.rounds.end) {
      if (kSteps > 1 && step == 0) {
        copy.advance();
        copy.look_up(work.key(next + kSteps, warp), kApart);
      }
      copy.start(ring[pipeline.acquire()], work.key(next, warp), step);
      if (kSteps == 1) copy.look_up(work.key(next + 1, warp), kApart);
    }
    if (round == start) {
      work.find_rows(dims);
      if (threadIdx.x == 0) kept = work;
      copy_queries(q, Q, work);
      if (threadIdx.x < ROWS) head[threadIdx.x] = work.head(threadIdx.x), query[threadIdx.x] = work.query(threadIdx.x);
    }
    pipeline.commit();
    if (round < work.rounds.first) continue;
    Scores s = {};
    mma::multiply(s, q, 0, ring[full].k);
    const int first = work.key(round, warp);
#pragma unroll
    for (int i = 0; i < Layout::kRegisters; ++i) {
      const int row = Layout::row(Layout::slot(i)), key = first + Layout::column(i);
      s.x[i] =
          key <= query[row] ? hooks.score(s.x[i] * scale, work.sequence, head[row], query[row], key) : softmax.kMasked;
    }
    values.map_rows(softmax.weigh(s), [](f32 x, f32 factor) { return x * factor; });
    mma::multiply_rounded(values, s, ring[full].v);
  }
  cp_async::wait_all();
}

#endif
