//! kernel  attention_backward "the gradients of O = softmax(scale * Q K^T) V for each head, plain or causal: DQ, DK and DV from DO"
//! arch    sm_90a
//! use     "device/reference/attention_backward.cuh"
//!
//! param   ATOMIC  = 0     in {0}                   "1: sums in any order, faster: attention_backward_atomic_wgmma.cu"
//! param   HD      = 64    in {64, 128}             "elements of a head"
//! param   STEP_M  = 64    in {16, 32, 48, 64, 80, 96, 112, 128} "queries of a step, in the blocks of keys"
//! param   STEP_N  = 64    in {16, 32, 48, 64, 80, 96, 112, 128} "keys of a step, in the blocks of queries"
//! param   STAGES_M = 2    in 1..4                  "steps of queries in flight or in use"
//! param   STAGES_N = 2    in 2..4                  "steps of keys in flight or in use"
//!
//! let     CONSUMERS = 2
//! let     TILE    = 64 * CONSUMERS                 "keys, or queries, of a block: 64 a warpgroup"
//! let     THREADS = 128 * (CONSUMERS + 1)
//! let     BOX_M   = STEP_M % 64 == 0 ? 64 : STEP_M % 32 == 0 ? 32 : 16 "queries of a box, with which all tiles are loaded"
//! let     BOX_N   = STEP_N % 64 == 0 ? 64 : STEP_N % 32 == 0 ? 32 : 16 "keys of a box"
//! let     OWN     = 2 * TILE * HD * sizeof(T)
//! let     SMEM_M  = align_up(OWN + STAGES_M * (2 * STEP_M * HD * sizeof(T) + 16) + 8, 1024) + 8 * STAGES_M * STEP_M
//! let     SMEM_N  = OWN + STAGES_N * (2 * STEP_N * HD * sizeof(T) + 16) + 8
//! let     SMEM    = align_up(max(SMEM_M, SMEM_N), 1024)
//! let     BLOCKS  = KV_HEADS * ceil_div(N, TILE) + HEADS * ceil_div(M, TILE)
//!
//! require given(score) == 0 && given(mask) == 0    "this file has no hooks"
//! require VD == 0                                  "this file has values as long as keys"
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require HD + STEP_M * 3 / 2 <= 262               "gradients, scores and weights must fit in registers"
//! require HD / 2 + STEP_N * 5 / 4 <= 192           "gradients, scores and weights must fit in registers"
//!
//! tensor  Q   box [1, BOX_M, 64]  swizzle 128  l2 256
//! tensor  K   box [1, BOX_N, 64]  swizzle 128  l2 256
//! tensor  V   box [1, BOX_N, 64]  swizzle 128  l2 256
//! tensor  DO  box [1, BOX_M, 64]  swizzle 128  l2 256
//! tensor  DQ  box [1, 64, 64]  swizzle 128
//! tensor  DK  box [1, 64, 64]  swizzle 128
//! tensor  DV  box [1, 64, 64]  swizzle 128
//!
//! launch  grid BLOCKS  block THREADS  smem SMEM
//! work    flops 10 * HEADS * M * N * HD / (1 + CAUSAL)  bytes (3 * HEADS * M + 4 * KV_HEADS * N) * HD * sizeof(T) + 8 * HEADS * M
//! reference attention_backward_reference  grid min(HEADS * M + KV_HEADS * N, 65536)  block 256  bits 3
//!
//! preset  HD = 64, STEP_M = 128, STEP_N = 128, STAGES_M = 4, STAGES_N = 4
//! preset  HD = 64, CAUSAL = 1, STEP_M = 128, STEP_N = 128, STAGES_M = 4, STAGES_N = 4
//! preset  HD = 128, STEP_M = 64, STEP_N = 96, STAGES_M = 4, STAGES_N = 3
//! preset  HD = 128, CAUSAL = 1, STEP_M = 64, STEP_N = 96, STAGES_M = 4, STAGES_N = 3

#include "device/epilogue/store_gradient.cuh"
#include "device/pipeline/tma_attention_backward.cuh"
#include "device/reference/attention_backward.cuh"
#include "device/schedule/attention_backward.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/wgmma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

using KeyTiles = AttentionKeyOrder<TILE, STEP_M>;
using QueryTiles = AttentionOrder<TILE, STEP_N>;
using Gradient = RegisterTile<layout::Mma<16, HD>>;
using Own = SharedTile<T, 64, HD>;

template <int Step, int Stages> struct Operands {
  Own own[CONSUMERS][2];  // keys and values, or queries and gradients; later the results
  SharedTile<T, Step, HD> first[Stages], second[Stages];  // queries and gradients, or keys and values
  Barrier loaded;
  Pipeline<Stages> steps;
};
struct KeySmem : Operands<STEP_M, STAGES_M> {
  alignas(8) f32 log_sum[STAGES_M][STEP_M], minus_delta[STAGES_M][STEP_M];
};
using QuerySmem = Operands<STEP_N, STAGES_N>;
static_assert(sizeof(KeySmem) <= SMEM && sizeof(QuerySmem) <= SMEM);

// The gradients of 64 keys and values, by a consumer warpgroup. All scores are transposed, so that weights and
// gradients of scores are operands of the products for DV and DK as they are.
class Keys {
 public:
  __device__ Keys(KeySmem& smem, const KeyTiles::Work& work, f32 scale)
      : smem_(smem), work_(work), consumer_(threadIdx.x / kWarpgroup), scale_(scale), steps_(smem.steps) {}

  // Loop invariant: before a step, `dk` and `dv` are the sums over the steps before, whose slots are released.
  __device__ void compute(const CUtensorMap& DK, const CUtensorMap& DV) {
    dk_.fill(0);
    dv_.fill(0);
    if (work_.steps() > 0) smem_.loaded.wait(0);
    work_.each([this](int, int step) { add(step); });
    store_gradient(DK, smem_.own[consumer_][0], dk_, scale_, work_.first + consumer_ * 64, work_.kv_head);
    store_gradient(DV, smem_.own[consumer_][1], dv_, 1, work_.first + consumer_ * 64, work_.kv_head);
  }

 private:
  __device__ void add(int step) {
    RegisterTile<layout::Mma<16, STEP_M>> s, ds;
    const u32 slot = steps_.wait();
    wgmma::multiply(s, smem_.own[consumer_][0], 0, smem_.first[slot], false);
    ds.map_columns(smem_.minus_delta[slot], [](f32, f32 x) { return x; });
    wgmma::multiply(ds, smem_.own[consumer_][1], 0, smem_.second[slot], true);
    wgmma::wait<1>();
    s.map_columns(smem_.log_sum[slot], [this](f32 x, f32 l) { return ex2(fmaf(x, scale_ * kLog2e, l)); });
    if (CAUSAL && step * STEP_M < work_.first_query(consumer_ * 64 + 63)) {
      const int first = work_.first - work_.shift + static_cast<int>(threadIdx.x) / 32 * 16 - step * STEP_M;
      s.map_at([=](f32 x, int r, int c) { return c >= first + r ? x : 0; });
    }
    wgmma::Words<T, STEP_M> weights, gradients;
    weights.round(s);
    wgmma::multiply(dv_, weights, smem_.second[slot]);
    wgmma::wait<1>();
    ds.multiply(s);
    gradients.round(ds);
    wgmma::multiply(dk_, gradients, smem_.first[slot]);
    wgmma::wait<0>();
    smem_.steps.release_warp(slot);
  }

  KeySmem& smem_;
  const KeyTiles::Work work_;
  const int consumer_;
  const f32 scale_;
  Consumer<STAGES_M, 1> steps_;
  Gradient dk_, dv_;
};

// The gradients of 64 queries, likewise; their scores are not transposed.
class Queries {
 public:
  __device__ Queries(QuerySmem& smem, const QueryTiles::Work& work, f32 scale)
      : smem_(smem),
        work_(work),
        consumer_(threadIdx.x / kWarpgroup),
        row_(threadIdx.x / 32 * 16),
        scale_(scale),
        steps_(smem.steps) {}

  __device__ void compute(const View<f32, 2>& L, const View<f32, 2>& DELTA, const CUtensorMap& DQ) {
    dq_.fill(0);
    if (work_.steps > 0) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int query = min(work_.first + row_ + Scores::Layout::row(i), work_.queries - 1);
        log_sum_.x[i] = -kLog2e * L.data[work_.head * L.stride[0] + query];
        delta_.x[i] = DELTA.data[work_.head * DELTA.stride[0] + query];
      }
      smem_.loaded.wait(0);
      step<true>(0);
#pragma unroll 1
      for (int i = 1; i < work_.steps; ++i) step<false>(i);
      wgmma::multiply(dq_, gradients_, smem_.first[slot_]);
      wgmma::wait<0>();
      smem_.steps.release_warpgroup(slot_);
    }
    store_gradient(DQ, smem_.own[consumer_][0], dq_, scale_, work_.first + consumer_ * 64, work_.head);
  }

 private:
  using Scores = RegisterTile<layout::Mma<16, STEP_N>>;

  // Invariant: before a step, `dq_` is the sum over the steps before but the last, whose gradients of scores are in
  // `gradients_` and whose slot is `slot_`.
  template <bool First> __device__ void step(int step) {
    Scores s, ds;
    const u32 slot = steps_.wait();
    wgmma::multiply(s, smem_.own[consumer_][0], 0, smem_.first[slot], false);
    wgmma::multiply(ds, smem_.own[consumer_][1], 0, smem_.second[slot], false);
    if constexpr (!First) wgmma::multiply(dq_, gradients_, smem_.first[slot_]);
    wgmma::wait<First ? 1 : 2>();
    s.map_rows(log_sum_, [this](f32 x, f32 l) { return ex2(fmaf(x, scale_ * kLog2e, l)); });
    if ((step + 1) * STEP_N > work_.last(consumer_ * 64) + 1)
      s.map_at([&](f32 x, int r, int c) { return step * STEP_N + c <= work_.last(row_ + r) ? x : 0; });
    wgmma::wait<First ? 0 : 1>();
    ds.map_rows(delta_, [](f32 x, f32 delta) { return x - delta; });
    ds.multiply(s);
    wgmma::wait<0>();
    if constexpr (!First) smem_.steps.release_warpgroup(slot_);
    slot_ = slot;
    gradients_.round(ds);
  }

  QuerySmem& smem_;
  const QueryTiles::Work work_;
  const int consumer_, row_;
  const f32 scale_;
  Consumer<STAGES_N, 1> steps_;
  u32 slot_;
  Scores::Vector log_sum_, delta_;
  Gradient dq_;
  wgmma::Words<T, STEP_N> gradients_;
};

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_backward(
    const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K, const __grid_constant__ CUtensorMap V,
    const __grid_constant__ CUtensorMap DO, View<f32, 2> L, View<f32, 2> DELTA, const __grid_constant__ CUtensorMap DQ,
    const __grid_constant__ CUtensorMap DK, const __grid_constant__ CUtensorMap DV, f32 scale, const Dims dims,
    const __grid_constant__ Hooks) {
  auto& keys = shared_memory<KeySmem>();
  auto& queries = shared_memory<QuerySmem>();
  const KeyTiles key_tiles(dims);
  const int index = blockIdx.x, query_index = index - key_tiles.count();
  if (threadIdx.x == 0) {
    if (query_index < 0) {
      keys.loaded.init(1);
      keys.steps.init(4 * CONSUMERS, 2);
    } else {
      queries.loaded.init(1);
      queries.steps.init(CONSUMERS);
    }
  }
  __syncthreads();
  const int thread = threadIdx.x - CONSUMERS * kWarpgroup;
  if (thread >= 0) {
    give_registers<24>();
    if (query_index < 0) {
      const auto work = key_tiles[index];
      if (thread == 0) load_key_tile<BOX_M, BOX_N>(keys, Q, K, V, DO, work);
      if (thread / 32 == 1) load_rows(keys, L, DELTA, work);
    } else if (thread == 0) {
      load_query_tile<BOX_M, BOX_N>(queries, Q, K, V, DO, QueryTiles(dims)[query_index]);
    }
    __syncwarp();
  } else {
    take_registers<240>();
    if (query_index < 0)
      Keys(keys, key_tiles[index], scale).compute(DK, DV);
    else
      Queries(queries, QueryTiles(dims)[query_index], scale).compute(L, DELTA, DQ);
    __syncwarp();
  }
}

#endif
