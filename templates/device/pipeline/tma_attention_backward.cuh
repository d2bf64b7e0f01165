#pragma once
// The producers of the backward pass of attention. Tensors are [head, row, element]. A block's own operands, of which
// each consumer has 64 rows, are in `smem.own`, on the barrier `smem.loaded`; what it walks over is loaded step by step
// into the slots of `smem.steps`, in `smem.first` and `smem.second`.
#include "device/pipeline/pipeline.cuh"
#include "device/ptx/ex2.cuh"
#include "device/ptx/infinity.cuh"
#include "device/tile/tma_tile.cuh"

// Loads rows of A and B of one head, from `row` on, as the block's own operands, by boxes of Box rows. Called by one
// thread.
template <int Box, class Smem>
__device__ inline void load_own(Smem& smem, const CUtensorMap& A, const CUtensorMap& B, int row, int head) {
  smem.loaded.expect(sizeof(smem.own));
#pragma unroll 1
  for (auto& own : smem.own) {
    tma::load_boxes<Box>(own[0], A, smem.loaded, {0, row, head});
    tma::load_boxes<Box>(own[1], B, smem.loaded, {0, row, head});
    row += own[0].kRows;
  }
}

// Loads a step's rows of A and B of one head. Called by one thread.
template <int Box, class Smem, class Steps>
__device__ inline void load_step(Smem& smem, Steps& producer, const CUtensorMap& A, const CUtensorMap& B, int step,
                                 int head) {
  const u32 slot = producer.acquire(sizeof(smem.first[0]) + sizeof(smem.second[0]));
  const int row = step * smem.first[0].kRows;
  tma::load_boxes<Box>(smem.first[slot], A, smem.steps.full[slot], {0, row, head});
  tma::load_boxes<Box>(smem.second[slot], B, smem.steps.full[slot], {0, row, head});
}

// Loads all operands of a tile of keys, and of a tile of queries. Queries and their gradients are loaded by boxes of
// BoxM rows, keys and values by boxes of BoxN. Called by one thread.
template <int BoxM, int BoxN, class Smem, class Work>
__device__ inline void load_key_tile(Smem& smem, const CUtensorMap& Q, const CUtensorMap& K, const CUtensorMap& V,
                                     const CUtensorMap& DO, const Work& work) {
  if (work.steps() == 0) return;
  load_own<BoxN>(smem, K, V, work.first, work.kv_head);
  Producer producer(smem.steps);
  work.each([&](int head, int step) { load_step<BoxM>(smem, producer, Q, DO, step, head); });
}
template <int BoxM, int BoxN, class Smem, class Work>
__device__ inline void load_query_tile(Smem& smem, const CUtensorMap& Q, const CUtensorMap& K, const CUtensorMap& V,
                                       const CUtensorMap& DO, const Work& work) {
  if (work.steps == 0) return;
  load_own<BoxM>(smem, Q, DO, work.first, work.head);
  Producer producer(smem.steps);
  for (int step = 0; step < work.steps; ++step) load_step<BoxN>(smem, producer, K, V, step, work.kv_head);
}

// Loads, for each step of a tile of keys, the queries' logarithms of sums, and their deltas, all
// negated and the logarithms of base 2, into
// the same slots, in `smem.log_sum` and `smem.minus_delta`, as a second producer. Queries beyond the last get no
// weight. Called by a warp.
template <class Smem, class Work>
__device__ inline void load_rows(Smem& smem, const View<f32, 2>& L, const View<f32, 2>& DELTA, const Work& work) {
  constexpr int kStep = sizeof(smem.minus_delta[0]) / sizeof(f32);
  const f32 no_weight = -infinity();
  Producer producer(smem.steps);
  work.each([&](int head, int step) {
    const u32 slot = producer.acquire();
#pragma unroll 1
    for (int i = threadIdx.x % 32; i < kStep; i += 32) {
      const int query = step * kStep + i;
      const bool holds = query < work.queries;
      smem.log_sum[slot][i] = holds ? -kLog2e * L.data[head * L.stride[0] + query] : no_weight;
      smem.minus_delta[slot][i] = holds ? -DELTA.data[head * DELTA.stride[0] + query] : 0.0F;
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem.steps.full[slot].arrive();
  });
}
