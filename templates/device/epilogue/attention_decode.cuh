#pragma once
// The end of attention_decode: the results of a block's warps are combined, then those of a cluster's blocks, which are
// parts of one sequence, and then those of the clusters by the last block of them. T, HD, ROWS, WARPS, CLUSTER, LSE,
// SCALED and SINKS are the template's.
#include "device/ptx/cvt.cuh"
#include "device/reduce/grid.cuh"
#include "device/reduce/sent_parts.cuh"
#include "device/tile/head_numbers.cuh"
#include "device/tile/pack.cuh"

#ifndef TMA_JIT_REFERENCE

// Of a block's warps, in shared memory, and of a sequence's parts, in a workspace.
using WarpPart = AttentionPart<ROWS, HD, HD + 8>;
using BlockPart = AttentionPart<ROWS, HD>;
using ClusterParts = SentParts<ROWS, HD / 4, CLUSTER>;

// Where the result of four columns of a row is stored, and what it is changed by: known before the result.
struct DecodePlace {
  T* o;
  f32* l;  // null but for the first columns of a row
  f32 scale, sink;

  __device__ void store(AttentionResult result) const {
    if constexpr (SINKS == 1) result.add_sink(sink);
    const f32 inverse = result.sum == 0 ? 0 : __fdividef(scale, result.sum);
    const f32 x[4] = {result.value.x, result.value.y, result.value.z, result.value.w};
    Pack<T, 4> pack;
#pragma unroll
    for (int i = 0; i < 4; ++i) pack.x[i] = from_f32<T>(x[i] * inverse);
    store_pack(o, pack, 4);
    if (LSE == 1 && l != nullptr) *l = result.log_sum_exp();
  }
};

struct DecodeOutput {
  View<T, 4> O;
  View<f32, 3> L;
  HeadNumbers numbers;
  BlockPart* parts;  // of all units
  u32* counters;     // of all units, of each block of a cluster

  template <class Work> __device__ DecodePlace place(const Work& work, int row, int column) const {
    const s64 token = work.token(row), head = work.head(row), sequence = work.sequence;
    return {
        O.data + sequence * O.stride[0] + token * O.stride[1] + head * O.stride[2] + column,
        LSE == 0 || column != 0 ? nullptr : L.data + sequence * L.stride[0] + token * L.stride[1] + head * L.stride[2],
        numbers.value_scale(work.kv_head), numbers.sink(head)};
  }
};

// Called by all threads of a block with a part, each with its warp's softmax and weighted sums of values. Each block of
// a cluster combines a share of the rows' columns, and those of the clusters are combined by the last of its rank.
template <class Softmax, class Sums, class Work>
__device__ inline void finish(WarpPart (&results)[WARPS], ClusterParts& sent, const Softmax& softmax,
                              const Sums& values, const Work& work, const DecodeOutput& output) {
  __syncthreads();  // the work is known, and the rings are free for the results
  constexpr int kAcross = HD / 4, kThreads = 32 * WARPS;
  constexpr int kBatch = 16;  // parts whose loads are in flight together
  const int items = work.rows * kAcross, count = work.parts / CLUSTER, rank = work.part % CLUSTER;
  BlockPart* const parts = output.parts + work.slot;
  const auto place = [&](int i) { return output.place(work, i / kAcross, i % kAcross * 4); };
  const auto put = [&](int i, const DecodePlace& there, const AttentionResult& result) {
    if (count == 1)
      there.store(result);
    else
      parts[s64{work.part / CLUSTER} * work.tiles].store(i / kAcross, i % kAcross * 4, result);
  };
  results[threadIdx.x / 32].store(0, 0, values, softmax.greatest(), softmax.sums(), work.rows);
  sent.open(work.rows);
  __syncthreads();
#pragma unroll 1
  for (int i = threadIdx.x; i < items; i += kThreads) {
    const AttentionResult result = combined<WARPS>(results, WARPS, 1, i / kAcross, i % kAcross * 4);
    if constexpr (CLUSTER == 1)
      put(i, place(i), result);
    else
      sent.send(i, result);
  }
  sent.template combine<kThreads>(work.rows, place, put);
  if (count == 1) return;
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) last = last_arriver(&output.counters[work.unit * CLUSTER + rank], count);
  __syncthreads();
  if (!last) return;
#pragma unroll 1
  for (int i = threadIdx.x; i < items; i += kThreads) {
    if (i / kAcross % CLUSTER != rank) continue;
    place(i).store(combined<kBatch>(parts, count, work.tiles, i / kAcross, i % kAcross * 4));
  }
}

#endif
