//! kernel  attention  "O = softmax(scale * Q K^T) V for each head, plain or causal"
//! arch    sm_90a
//!
//! type    T       = bf16  in {bf16, f16}
//! dim     HEADS, KV_HEADS in 1..65535              "of all sequences of a batch; HEADS / KV_HEADS of queries share keys and values"
//! dim     M, N            in 0..2147483647         "queries, keys"
//!
//! param   HD      = 64    in {64, 128}             "elements of a head"
//! param   CAUSAL  = 0     in {0, 1}                "1: a query sees the keys up to its own, the last query all of them"
//! param   BM      = 128   in {64, 128}             "queries of a block: 64 a warpgroup"
//! param   BN      = 64    in {64, 128}             "keys of a step"
//! param   STAGES  = 2     in {2, 3}                "steps of keys and values in flight or in use"
//!
//! let     CONSUMERS = BM / 64
//! let     THREADS = 128 * (CONSUMERS + 1)
//! let     SMEM    = align_up((BM + 2 * STAGES * BN) * HD * sizeof(T) + 16 * STAGES + 8, 1024)
//! let     BLOCKS  = HEADS * ceil_div(M, BM)
//!
//! require HEADS % KV_HEADS == 0                    "heads of queries share keys and values evenly"
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//!
//! tensor  Q : T[HEADS, M, HD]     box [1, BM, 64]  swizzle 128
//! tensor  K : T[KV_HEADS, N, HD]  box [1, BN, 64]  swizzle 128  l2 256
//! tensor  V : T[KV_HEADS, N, HD]  box [1, BN, 64]  swizzle 128  l2 256
//! tensor  O : T[HEADS, M, HD]     box [1, 64, 64]  swizzle 128  out
//! scalar  scale : f32 = 0.125
//!
//! launch  grid BLOCKS  block THREADS  smem SMEM
//! work    flops 4 * HEADS * M * N * HD / (1 + CAUSAL)  bytes (2 * HEADS * M + 2 * KV_HEADS * N) * HD * sizeof(T)
//! reference attention_reference  grid min(HEADS * M, 65536)  block 128  bits 5
//!
//! preset  HD = 64, BM = 128, BN = 128, STAGES = 2
//! preset  HD = 128, BM = 128, BN = 128, STAGES = 2
//! preset  HD = 64, CAUSAL = 1, BM = 128, BN = 128, STAGES = 2

#include "device/pipeline/tma_attention.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/reference/attention.cuh"
#include "device/schedule/attention.cuh"
#include "device/tile/online_softmax.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tma_tile.cuh"
#include "device/tile/wgmma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

using Work = AttentionTile<BM, BN>;
using Scores = RegisterTile<layout::Mma<16, BN>>;
using Output = RegisterTile<layout::Mma<16, HD>>;

struct Smem {
  SharedTile<T, BM, HD> q;
  SharedTile<T, BN, HD> k[STAGES], v[STAGES];
  Pipeline<STAGES> pipeline;
  Barrier queries;
};
static_assert(sizeof(Smem) == SMEM);

// Computes the output of 64 queries. Called by one consumer warpgroup. Loop invariant: before step i, `o` is the sum of
// the weighted values of steps 0 to i - 1, relative to the maximum that `softmax` holds, and the slots of these steps
// are released.
__device__ void consume(Smem& smem, const CUtensorMap& O, const Work& work, f32 scale) {
  const int group = threadIdx.x / kWarpgroup, row = threadIdx.x / 32 * 16;
  Consumer consumer(smem.pipeline);
  OnlineSoftmax<Scores> softmax;
  Output o = {};
  if (work.steps > 0) smem.queries.wait(0);
#pragma unroll 1
  for (int step = 0; step < work.steps; ++step) {
    const u32 slot = consumer.wait();
    Scores s;
    u32 weights[BN / 16][4];
    wgmma::multiply(s, smem.q, group * 64, smem.k[slot], false);
    wgmma::wait<0>();
    s.map_at([&](f32 x, int r, int c) { return work.sees(row + r, step * BN + c) ? x * scale : softmax.kMasked; });
    o.map_rows(softmax.weigh(s), [](f32 x, f32 factor) { return x * factor; });
    wgmma::multiply_rounded(o, s, weights, smem.v[slot]);
    wgmma::wait<0>();
    smem.pipeline.release_warpgroup(slot);
  }
  o.map_rows(softmax.inverse_sums(), [](f32 x, f32 factor) { return x * factor; });
  store(smem.q, row, 0, o);  // overwrites the queries, which only this warpgroup has read
  tma::fence();
  sync(1 + group, kWarpgroup);
  if (threadIdx.x % kWarpgroup != 0) return;
#pragma unroll
  for (int p = 0; p < HD / 64; ++p)
    tma::store(O, smem.q.panel[p][group * 64], {p * 64, work.first + group * 64, work.head});
  tma::commit();
  tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention(const __grid_constant__ CUtensorMap Q,
                                                                   const __grid_constant__ CUtensorMap K,
                                                                   const __grid_constant__ CUtensorMap V,
                                                                   const __grid_constant__ CUtensorMap O, f32 scale,
                                                                   const Dims dims) {
  Smem& smem = shared_memory<Smem>();
  const Work work(dims);
  if (threadIdx.x == 0) {
    smem.queries.init(1);
    smem.pipeline.init(CONSUMERS);
  }
  __syncthreads();
  if (threadIdx.x >= CONSUMERS * kWarpgroup) {
    give_registers<40>();
    if (threadIdx.x == CONSUMERS * kWarpgroup) load_attention(smem, Q, K, V, work);
    __syncwarp();
  } else {
    take_registers<CONSUMERS == 1 ? 240 : 232>();
    consume(smem, O, work, scale);
    __syncwarp();
  }
}

#endif
