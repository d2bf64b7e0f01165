#pragma once
// The end of attention_decode_latent: the results of a cluster's blocks, which are parts of one sequence, are combined,
// and then those of the clusters by the last blocks of them. T, HD, ROWS, WARPS, CLUSTER and LSE are the template's.
#include "device/epilogue/attention_decode.cuh"

#ifndef TMA_JIT_REFERENCE

// Calls make(row, column) for four neighbouring columns at a time of every CLUSTER-th of `rows` rows, of which each
// warp has whole ones, so that what concerns a row alone is computed once. AtOnce calls may be under way together.
template <int Threads, int AtOnce, class Make> __device__ inline void each_four(int rows, int rank, Make make) {
#pragma unroll 1
  for (int row = threadIdx.x / 32 * CLUSTER + rank; row < rows; row += Threads / 32 * CLUSTER)
#pragma unroll(AtOnce)
    for (int column = threadIdx.x % 32 * 4; column < HD; column += 128) make(row, column);
}

// Combines what the block has left in `part`. A cluster's blocks share its rows among them: each combines its rows of
// the cluster, and, if it is the last of its rank, of all clusters. Called by the first Threads threads of the block,
// of which `meet` is a barrier.
template <int Threads, class Work, class Meet>
__device__ inline void combine_latent(WarpPart& part, const Work& work, const DecodeOutput& output, Meet meet) {
  constexpr int kBatch = 8;  // parts whose loads are in flight together
  const int rank = work.part % CLUSTER, count = work.parts / CLUSTER;
  BlockPart* const parts = output.parts + work.slot;
  if constexpr (CLUSTER == 1)
    meet();
  else
    cluster::sync();
  each_four<Threads, CLUSTER == 1 ? 4 : 1>(work.rows, rank, [&](int row, int column) {
    AttentionResult result;
    if constexpr (CLUSTER == 1)
      result = part.result(row, column);
    else
      result = combined<CLUSTER>(CLUSTER, [&](int r) { return cluster::map(&part, r)->result(row, column); });
    if (count == 1)
      output.place(work, row, column).store(result);
    else
      parts[s64{work.part / CLUSTER} * work.tiles].store(row, column, result);
  });
  if constexpr (CLUSTER > 1) cluster::sync();  // no block reads this one's memory any more
  if (count == 1) return;
  __shared__ bool last;
  meet();
  if (threadIdx.x == 0) last = last_arriver(&output.counters[work.unit * CLUSTER + rank], count);
  meet();
  if (!last) return;
  each_four<Threads, 1>(work.rows, rank, [&](int row, int column) {
    output.place(work, row, column).store(combined<kBatch>(parts, count, work.tiles, row, column));
  });
}

#endif
