//! kernel  attention_backward "the gradients of O = softmax(scale * Q K^T) V for each head, plain or causal, with DQ summed in any order: its last bits may differ from launch to launch"
//! arch    sm_90a
//! prefer  -1
//! use     "device/reference/attention_backward.cuh"
//!
//! param   ATOMIC  = 1     in {1}                   "pinned by who wants it: without, attention_backward sums in a fixed order, in seven products instead of five"
//! param   HD      = 64    in {64, 128}             "elements of a head"
//! param   STAGES  = 2     in 1..4                  "steps of queries in flight or in use"
//!
//! let     CONSUMERS = 2
//! let     TILE    = 64 * CONSUMERS                 "keys of a block: 64 a warpgroup"
//! let     STEP    = 8192 / HD                      "queries of a step: each consumer sums 64 x 64 elements of their gradients"
//! let     THREADS = 128 * (CONSUMERS + 1)
//! let     PENDING = 2 * CONSUMERS * 64 * STEP * sizeof(T) "bytes of the gradients of scores of two steps"
//! let     SMEM    = align_up(2 * TILE * HD * sizeof(T) + PENDING + CONSUMERS * 16384 + STAGES * (2 * STEP * HD * sizeof(T) + 16 + 8 * STEP) + 256, 1024)
//! let     STEPS   = ceil_div(M, STEP)
//! let     RUN     = 4                              "steps whose sums a block rounds"
//! let     KEYED   = KV_HEADS * ceil_div(N, TILE)   "blocks of keys"
//! let     ROUNDED = HEADS * ceil_div(STEPS, RUN)   "blocks that round sums"
//!
//! require given(score) == 0 && given(mask) == 0    "this file has no hooks"
//! require VD == 0                                  "this file has values as long as keys"
//! require stride(DQ, 2) == 1 && stride(DQ, 1) % 2 == 0 && stride(DQ, 0) % 2 == 0 && alignment(DQ) % 4 == 0 "elements of DQ are stored by pairs"
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//!
//! tensor  Q   box [1, 64, 64]  swizzle 128  l2 256
//! tensor  K   box [1, 64, 64]  swizzle 128  l2 256
//! tensor  V   box [1, 64, 64]  swizzle 128  l2 256
//! tensor  DO  box [1, 64, 64]  swizzle 128  l2 256
//! tensor  DK  box [1, 64, 64]  swizzle 128
//! tensor  DV  box [1, 64, 64]  swizzle 128
//!
//! workspace sums     HEADS * STEPS * CONSUMERS * 16384  zero "of DQ, as the consumers' registers hold them"
//! workspace counters (1 + 2 * KV_HEADS) * 4             zero "blocks that have begun; consumers that have given all, and blocks that have rounded, of each head of keys"
//!
//! launch  grid KEYED + ROUNDED  block THREADS  smem SMEM
//! work    flops 10 * HEADS * M * N * HD / (1 + CAUSAL)  bytes (3 * HEADS * M + 4 * KV_HEADS * N) * HD * sizeof(T) + 8 * HEADS * M * (1 + HD)
//! reference attention_backward_reference  grid min(HEADS * M + KV_HEADS * N, 65536)  block 256  bits 3
//!
//! preset  HD = 64, STAGES = 2  when HD == 64
//! preset  HD = 64, CAUSAL = 1, STAGES = 2  when HD == 64
//! preset  HD = 128, STAGES = 2  when M >= 16384
//! preset  HD = 128, CAUSAL = 1, STAGES = 2  when M >= 16384
//! preset  HD = 128, STAGES = 3
//! preset  HD = 128, CAUSAL = 1, STAGES = 3

#include "device/epilogue/store_gradient.cuh"
#include "device/pipeline/tma_attention_backward.cuh"
#include "device/ptx/bulk_group.cuh"
#include "device/ptx/bulk_reduce.cuh"
#include "device/reduce/grid.cuh"
#include "device/reference/attention_backward.cuh"
#include "device/schedule/attention_backward.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/wgmma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

// A block makes the gradients of a tile of keys and values, and adds what the tile gives to the gradients of the
// queries of each step, by bulk reductions into sums in the workspace. A consumer makes 64 x 64 of those of a step,
// from the gradients of scores of both consumers, during the next step, so that it seldom waits for the other. Blocks
// number themselves as they begin: those after the last tile wait for all tiles of a head, which therefore have begun,
// then scale, round and store the sums of RUN steps, and clear them.
using Tiles = AttentionKeyOrder<TILE, STEP>;
using Gradient = RegisterTile<layout::Mma<16, HD>>;
using QueryGradient = RegisterTile<layout::Mma<16, 64>>;
using Scores = RegisterTile<layout::Mma<16, STEP>>;  // transposed: a row for each key
constexpr int kSums = 4096;                          // of a step and consumer

struct Smem {
  SharedTile<T, 64, HD> own[CONSUMERS][2];                // keys and values; later their gradients
  SharedTile<T, STEP, HD> first[STAGES], second[STAGES];  // queries and the gradients of their results
  SharedTile<T, 64, STEP> gradients[2][CONSUMERS];        // of the scores, of two steps
  alignas(128) f32 sums[CONSUMERS][kSums];
  alignas(8) f32 log_sum[STAGES][STEP], minus_delta[STAGES][STEP];
  Barrier loaded;
  Pipeline<STAGES> steps;
  Barrier done[CONSUMERS][2];  // with each even and odd step: the consumer has stored its gradients of scores
  u32 number;
};
static_assert(sizeof(Smem) <= SMEM);

// The columns of Q and rows of a step whose gradients a consumer sums.
__device__ inline int column_panel(int consumer) {
  return HD == 128 ? consumer : 0;
}
__device__ inline int row_panel(int consumer) {
  return HD == 128 ? 0 : consumer;
}

// What blocks count.
struct Counters {
  u32* begun;  // blocks; then for each head of keys, consumers that have given all their sums and blocks that rounded
  __device__ u32& given(int kv_head) const { return begun[1 + 2 * kv_head]; }
  __device__ u32& rounded(int kv_head) const { return begun[2 + 2 * kv_head]; }
};

class Keys {
 public:
  __device__ Keys(Smem& smem, const Tiles::Work& work, f32 scale, f32* sums, u32& given)
      : smem_(smem),
        work_(work),
        consumer_(threadIdx.x / kWarpgroup),
        scale_(scale),
        sums_(sums + consumer_ * kSums),
        given_to_(given),
        steps_(smem.steps) {}

  __device__ void compute(const CUtensorMap& DK, const CUtensorMap& DV) {
    dk_.fill(0);
    dv_.fill(0);
    int step = work_.begin, number = work_.first_number();
    if (step < work_.end) {
      smem_.loaded.wait(0);
      add<true>(step);
      int before = number;
#pragma unroll 1
      while (work_.advance(number, step), number < work_.end_number()) {
        add<false>(step, before);
        before = number;
      }
      await(count_);
      begin_sums();
      QueryGradient dq;
      multiply_query(dq, smem_.gradients[count_ % 2]);
      wgmma::wait<0>();
      give(dq, before);
      sync(1 + CONSUMERS, CONSUMERS * kWarpgroup);  // after which no consumer reads the other's keys
    }
    store_gradient(DK, smem_.own[consumer_][0], dk_, scale_, work_.first + consumer_ * 64, work_.kv_head);
    store_gradient(DV, smem_.own[consumer_][1], dv_, 1, work_.first + consumer_ * 64, work_.kv_head);
    if (threadIdx.x % kWarpgroup == 0) {
      bulk::wait<0>();
      __threadfence();
      atomicAdd(&given_to_, 1);
    }
  }

 private:
  // Invariant: before a step, `dk_` and `dv_` are the sums over the steps before, whose slots are released, and the
  // sums of all of them but the last, `before`, are given.
  template <bool First> __device__ void add(int step, int before = 0) {
    Scores s, ds;
    const u32 slot = steps_.wait();
    wgmma::multiply(s, smem_.own[consumer_][0], 0, smem_.first[slot], false);
    wgmma::multiply(ds, smem_.own[consumer_][1], 0, smem_.second[slot], false);
    wgmma::wait<1>();
    s.map_columns(smem_.log_sum[slot], [this](f32 x, f32 l) { return ex2(fmaf(x, scale_ * kLog2e, l)); });
    hide(s, step);
    wgmma::Words<T, STEP> weights, gradients;
    weights.round(s);
    wgmma::multiply(dv_, weights, smem_.second[slot]);
    wgmma::wait<1>();
    ds.map_columns(smem_.minus_delta[slot], [](f32 x, f32 d) { return x + d; });
    ds.multiply(s);
    gradients.round(ds);
    if constexpr (!First) await(count_++);
    store(smem_.gradients[count_ % 2][consumer_], threadIdx.x % kWarpgroup / 32 * 16, 0, ds);
    tma::fence();
    QueryGradient dq;
    if constexpr (!First) {
      begin_sums();
      multiply_query(dq, smem_.gradients[(count_ + 1) % 2]);
    }
    wgmma::multiply(dk_, gradients, smem_.first[slot]);
    if constexpr (!First) {
      wgmma::wait<1>();
      give(dq, before);
    }
    wgmma::wait<0>();
    smem_.steps.release_warp(slot);
    if (threadIdx.x % 32 == 0) smem_.done[consumer_][count_ % 2].arrive();
  }

  // Waits for the other consumer's gradients of the scores of a step.
  __device__ void await(u32 step) {
    smem_.done[1 - consumer_][step % 2].wait(step / 2 % 2);
  }

  // Waits until the sums given last have been read.
  __device__ void begin_sums() {
    if (threadIdx.x % kWarpgroup == 0) bulk::wait_read<0>();
    sync(1 + consumer_, kWarpgroup);
  }

  // Starts this consumer's part of the gradients of a step's queries, over all keys of the tile.
  __device__ void multiply_query(QueryGradient& dq, const SharedTile<T, 64, STEP> (&gradients)[CONSUMERS]) {
    using Product = wgmma::Mma<64, T>;
    using Orders = wgmma::Mode<wgmma::Major::mn, wgmma::Major::mn>;
    wgmma::fence();
#pragma unroll
    for (int i = 0; i < CONSUMERS; ++i)
#pragma unroll
      for (int k = 0; k < 64; k += 16)
        Product::template ss<Orders>(dq.x, gradients[i].mn_major(k, row_panel(consumer_)),
                                     smem_.own[i][0].mn_major(k, column_panel(consumer_)), i + k > 0);
    wgmma::commit();
  }

  // Takes the weights of keys that do not exist or that the query does not see.
  __device__ void hide(Scores& s, int step) {
    const int row = threadIdx.x / 32 * 16;
    if (work_.first + TILE > work_.keys || (CAUSAL && step * STEP < work_.first_query(consumer_ * 64 + 63))) {
      const int keys = work_.keys - work_.first - row;
      const int first = CAUSAL ? work_.first - work_.shift + row - step * STEP : -TILE;
      s.map_at([=](f32 x, int r, int c) { return r < keys && c >= first + r ? x : 0; });
    }
  }

  // Adds this consumer's part of a step's gradients of queries to its sums.
  __device__ void give(const QueryGradient& dq, int number) {
    const int thread = threadIdx.x % kWarpgroup;
    auto* part = reinterpret_cast<float4*>(smem_.sums[consumer_]) + thread;
#pragma unroll
    for (int i = 0; i < QueryGradient::Layout::kRegisters / 4; ++i)
      part[i * kWarpgroup] = make_float4(dq.x[4 * i], dq.x[4 * i + 1], dq.x[4 * i + 2], dq.x[4 * i + 3]);
    tma::fence();
    sync(1 + consumer_, kWarpgroup);
    if (thread != 0) return;
    bulk::reduce<Reduction::add>(sums_ + s64{number} * CONSUMERS * kSums, smem_.sums[consumer_],
                                 sizeof(smem_.sums[consumer_]));
    bulk::commit();
  }

  Smem& smem_;
  const Tiles::Work work_;
  const int consumer_;
  const f32 scale_;
  f32* const sums_;
  u32& given_to_;
  Consumer<STAGES, 1> steps_;
  u32 count_ = 0;  // of the steps before this one
  Gradient dk_, dv_;
};

// Scales, rounds and stores the sums of RUN steps of a head, and clears them.
__device__ inline void round_sums(int number, f32* sums, const Counters& counters, const View<T, 3>& DQ, f32 scale,
                                  const Dims& dims) {
  constexpr int kPacks = kSums / 4, kEach = 8;  // packs of a step and consumer, and of a thread at a time
  const int steps = ceil_div<u32>(dims.M, STEP), runs = ceil_div<u32>(steps, RUN), sharing = dims.HEADS / dims.KV_HEADS;
  const int head = number / runs, first = number % runs * RUN, kv_head = head / sharing;
  const u32 all = CONSUMERS * ceil_div<u32>(dims.N, TILE);
  if (threadIdx.x == 0) {
    while (atomicAdd(&counters.given(kv_head), 0) != all) __nanosleep(200);
    __threadfence();
  }
  __syncthreads();
  auto* packs = reinterpret_cast<float4*>(sums) + (s64{head} * steps + first) * CONSUMERS * kPacks;
  const int count = min(RUN, steps - first) * CONSUMERS * kPacks;
  for (int begin = threadIdx.x; begin < count; begin += THREADS * kEach) {
    float4 x[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      if (begin + i * THREADS < count) x[i] = packs[begin + i * THREADS];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = begin + i * THREADS, thread = at % kWarpgroup, consumer = at / kPacks % CONSUMERS;
      if (at >= count) break;
      packs[at] = make_float4(0, 0, 0, 0);
      const int column = column_panel(consumer) * 64 + at / kWarpgroup % 8 * 8 + thread % 4 * 2;
      const s64 row =
          (first + at / kPacks / CONSUMERS) * STEP + row_panel(consumer) * 64 + thread / 32 * 16 + thread % 32 / 4;
      T* const to = DQ.data + head * DQ.stride[0] + row * DQ.stride[1] + column;
      if (row < dims.M) *reinterpret_cast<u32*>(to) = pack<T>(x[i].x * scale, x[i].y * scale);
      if (row + 8 < dims.M) *reinterpret_cast<u32*>(to + 8 * DQ.stride[1]) = pack<T>(x[i].z * scale, x[i].w * scale);
    }
  }
  if (threadIdx.x == 0 && last_arriver(&counters.rounded(kv_head), runs * sharing)) counters.given(kv_head) = 0;
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_backward(
    const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K, const __grid_constant__ CUtensorMap V,
    const __grid_constant__ CUtensorMap DO, View<f32, 2> L, View<f32, 2> DELTA, View<T, 3> DQ,
    const __grid_constant__ CUtensorMap DK, const __grid_constant__ CUtensorMap DV, unsigned char* sums,
    unsigned char* counters, f32 scale, const Dims dims, const __grid_constant__ Hooks) {
  auto& smem = shared_memory<Smem>();
  const Counters all = {reinterpret_cast<u32*>(counters)};
  const Tiles tiles(dims);
  if (threadIdx.x == 0) {
    smem.number = atomicInc(all.begun, gridDim.x - 1);
    smem.loaded.init(1);
    smem.steps.init(4 * CONSUMERS, 2);
    for (auto& done : smem.done) done[0].init(4), done[1].init(4);
  }
  __syncthreads();
  const int number = smem.number, to_round = number - tiles.count();
  if (to_round >= 0) return round_sums(to_round, reinterpret_cast<f32*>(sums), all, DQ, scale, dims);
  const auto work = tiles[number];
  const int thread = threadIdx.x - CONSUMERS * kWarpgroup;
  if (thread >= 0) {
    give_registers<24>();
    if (thread == 0) load_key_tile<64, 64>(smem, Q, K, V, DO, work);
    if (thread / 32 == 1) load_rows(smem, L, DELTA, work);
    __syncwarp();
  } else {
    take_registers<240>();
    Keys(smem, work, scale, reinterpret_cast<f32*>(sums), all.given(work.kv_head)).compute(DK, DV);
    __syncwarp();
  }
}

#endif
