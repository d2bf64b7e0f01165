//! kernel  attention  "O = softmax(scale * Q K^T) V for each head, plain, causal, or with a mask and scores of yours"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/attention.cuh"
//!
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   BM      = 64    in {64, 128}             "queries of a block: 16 a warp"
//! param   BN      = 64    in {32, 64}              "keys of a step"
//! param   STAGES  = 2     in {2, 3}                "steps of keys and values in flight or in use"
//!
//! let     THREADS = 2 * BM
//! let     SMEM    = (BM * HD + STAGES * BN * (HD + DV)) * sizeof(T)
//! let     BLOCKS  = HEADS * ceil_div(M, BM)
//!
//! require DV <= HD                             "a result takes the place of its query"
//! require DV + BN <= 288                       "output and scores must fit in registers"
//! require sizeof(T) == 2                       "numbers of 16 bits"
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require HD % 64 == 0 && DV % 64 == 0 || BN * 4 >= THREADS "a copy of a panel takes all threads"
//! require alignment(Q) >= 16 && alignment(K) >= 16 && alignment(V) >= 16 "rows are copied 16 bytes at a time"
//! require stride(Q, 1) % 8 == 0 && stride(K, 1) % 8 == 0 && stride(V, 1) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 0) % 8 == 0 && stride(K, 0) % 8 == 0 && stride(V, 0) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 2) == 1 && stride(K, 2) == 1 && stride(V, 2) == 1 "elements of a head are neighbours"
//!
//! launch  grid BLOCKS  block THREADS  smem SMEM
//! work    flops 2 * HEADS * M * N * (HD + DV) / (1 + CAUSAL)  bytes (HEADS * M + KV_HEADS * N) * (HD + DV) * sizeof(T)
//! reference attention_reference  grid min(HEADS * M, 65536)  block max(128, HD)  bits 5
//!
//! preset  HD = 64, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 128, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 64, CAUSAL = 1, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 32, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 96, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 192, BM = 64, BN = 32, STAGES = 2                               when VD != 128
//! preset  HD = 192, VD = 128, BM = 64, BN = 32, STAGES = 2
//! preset  HD = 256, BM = 64, BN = 32, STAGES = 2

#include "device/epilogue/log_sums.cuh"
#include "device/epilogue/store_tile.cuh"
#include "device/pipeline/attention_mma_cp_async.cuh"
#include "device/reference/attention.cuh"
#include "device/schedule/attention.cuh"
#include "device/tile/register_store.cuh"

#ifndef TMA_JIT_REFERENCE

// Returns one head's rows of a tensor.
template <class E> __device__ inline View<E, 2> head_of(const View<E, 3>& of, s64 head) {
  return {of.data + head * of.stride[0], {of.stride[1], of.stride[2]}};
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention(View<const T, 3> Q, View<const T, 3> K,
                                                                   View<const T, 3> V, View<const f32, 1> SQ,
                                                                   View<const f32, 1> SK, View<const f32, 1> SV,
                                                                   View<const f32, 1> SINK, View<T, 3> O,
                                                                   View<f32, 2> L, f32 scale, const Dims dims,
                                                                   const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const auto work = AttentionOrder<BM, BN>(dims)[blockIdx.x];
  const HeadNumbers numbers = {SQ, SK, SV, SINK, static_cast<int>(dims.SINK_HEADS)};
  OnlineSoftmax<Scores> softmax(1, numbers.sink(work.head));
  Output o = {};
  const HeadRows source = {head_of(K, work.kv_head), head_of(V, work.kv_head), work.keys};
  attend(smem, work, head_of(Q, work.head), source, scale, hooks, softmax, o);

  const int row = threadIdx.x / 32 * 16;
  if constexpr (LSE) store_log_sums(L, softmax, work, row);
  store(smem.results(), row, 0, o);
  __syncthreads();
  const View<T, 2> out = head_of(O, work.head);
  store_rows<THREADS>(out, smem.results(), {work.queries, DV}, work.first, 0, threadIdx.x, rows_of_16_bytes(out));
}

#endif
