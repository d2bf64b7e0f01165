#pragma once
// Latent attention by wgmma: a row of the cache is the key, of KD elements, and its first HD elements are the value, so
// that one tile in shared memory serves both products. Two warpgroups compute the scores of steps in turn, consumer 0
// those of the first of two; each has half of the columns of the weighted sums of values, of all steps, and gets the
// other's weights through shared memory. T, KD, HD, BN and ROWS are the template's, and WarpPart the results that a
// cluster combines.
//
// What the files of the kernel attention_decode_latent by wgmma share of their manifests, which `use` this:
//! param   PARTS   = 0     in {0, 1, 2, 4, 8, 16, 32, 64, 128} "parts of a sequence's keys, on average if RAGGED; 0: as many as the device has room for"
//! param   LEAST   = 128   in {64, 128, 256, 512, 1024} "keys of a part at least, unless it is the only one"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that combine their parts of a sequence through shared memory"
//!
//! let     ROWS    = 64                             "heads of queries times tokens that a block computes together"
//! let     BN      = 64                             "keys of a step"
//! let     WARPS   = 1                              "steps that a block computes at a time"
//! let     THREADS = 384
//! let     SMEM    = align_up((ROWS + 2 * BN) * KD * sizeof(T) + 16 * ROWS + 96, 1024)
//! let     TILES   = ceil_div(TOKENS * HEADS, ROWS) "blocks that share a part of a sequence's keys"
//! let     UNITS   = B * TILES                      "what is split into parts"
//! let     ROOM    = CLUSTER <= 2 ? device.sm_count : device.sm_count * 3 / 4 "blocks at a time: larger clusters leave some processors idle"
//! let     ONE     = ROOM / max(UNITS, 1)           "parts that fill the device once"
//! let     TWO     = 2 * ROOM / max(UNITS, 1)
//! let     FILLED  = ONE * UNITS * 10 >= 9 * ROOM || UNITS * 8 < ROOM ? ONE : TWO * UNITS * 10 >= 18 * ROOM ? TWO : 4 * ROOM / max(UNITS, 1)
//! let     WANTED  = max(1, min(PARTS == 0 ? FILLED : PARTS, ceil_div(N, LEAST)))
//! let     EVEN    = max(WANTED / CLUSTER, 1) * CLUSTER "parts of each if all are as long"
//! let     SPARE   = PARTS != 0 ? UNITS * (PARTS - 1) : 4 * UNITS <= ROOM ? ROOM - UNITS : UNITS < ROOM ? 2 * ROOM : 0 "parts beyond one of each"
//! let     BESIDES = min(SPARE / max(TILES, 1), B * max(0, ceil_div(N, LEAST) - 1))
//! let     ACROSS  = RAGGED == 0 ? B : max(B, (B + BESIDES) / EVEN)
//! let     GRID    = TILES * ACROSS * EVEN
//!
//! require CLUSTER <= device.cluster_max            "the device's clusters must be as large"
//! require SMEM + 512 <= device.smem_per_block      "the queries and the keys of two steps must fit in shared memory"
//! require stride(Q, 3) == 1 && stride(O, 3) == 1 "elements of a head are neighbours"
//!
//! workspace parts     GRID == UNITS * CLUSTER ? 0 : GRID * ROWS * (HD + 2) * 4 "results of parts"
//! workspace counters  GRID == UNITS * CLUSTER ? 0 : UNITS * CLUSTER * 4  zero "parts that have come"
//!
//! cluster 1, 1, CLUSTER
//! launch  grid TILES, ACROSS, EVEN  block THREADS  smem SMEM
//! work    flops 2 * B * TOKENS * HEADS * N * (KD + HD)  bytes B * N * KD * sizeof(E) + B * TOKENS * HEADS * (KD + HD) * sizeof(T)
//!
//! preset  CLUSTER = 4, LEAST = 128   when UNITS * 16 <= ROOM && WANTED >= 4
//! preset  CLUSTER = 2, LEAST = 128   when UNITS * 2 <= ROOM && WANTED >= 2
//! preset  CLUSTER = 1, LEAST = 1024
#include "device/pipeline/key_copy.cuh"
#include "device/pipeline/latent_queries.cuh"
#include "device/pipeline/pipeline.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ptx/tma.cuh"
#include "device/ptx/uniform.cuh"
#include "device/tile/online_softmax.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/wgmma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr int kHalf = HD / 2, kConsumers = 2 * kWarpgroup;

using Scores = RegisterTile<layout::Mma<16, BN>>;
using Values = RegisterTile<layout::Mma<16, kHalf>>;  // of one consumer
using Softmax = OnlineSoftmax<Scores, 8>;

// Rows of KD elements: two halves of values, and the columns beyond, which are only compared.
struct LatentTile : SharedTile<T, BN, KD> {
  using Half = SharedTile<T, BN, kHalf>;
  using Rest = SharedTile<T, BN, KD - HD>;
  __device__ Half& half(int i) { return reinterpret_cast<Half&>(panel[i * (kHalf / kPanel)]); }
  __device__ Rest& rest() { return reinterpret_cast<Rest&>(panel[HD / kPanel]); }
};

struct Smem {
  LatentTile q;
  union {
    LatentTile k[2];  // of the two consumers; once its scores are made, the rest of a tile holds its weights
    WarpPart part;
  };
  f32 greatest[2][ROWS], sum[2][ROWS];  // of each consumer's steps
  Pipeline<2> half[2], rest;            // of tiles: consumer i releases half i, and the rest of the other's steps

  // Called by one thread, followed by a barrier of the block.
  __device__ void init() {
    half[0].init(1);
    half[1].init(1);
    rest.init(1);
  }
};
static_assert(sizeof(Smem) <= SMEM);

// One consumer. Uses the named barriers 1 to 5.
template <class Work> class LatentAttention {
 public:
  __device__ LatentAttention(Smem& smem, const Work& work, f32 scale, int tokens)
      : smem_(smem), work_(work), softmax_(fabsf(scale)), negative_(scale < 0), seen_by_all_(work.keys - tokens + 1) {
#pragma unroll
    for (int s = 0; s < Scores::Layout::kRowSlots; ++s) last_[s] = work.query(min(row(s), work.rows - 1));
    o_.fill(0);
  }

  // Adds the block's steps. Loop invariant: before each pair of steps, the sums of all steps before are complete, their
  // tiles are released, and both consumers have the same maximum of each row.
  __device__ void attend() {
    int step = work_.rounds.first;
#pragma unroll 1
    for (; step + 1 < work_.rounds.end; step += 2, phase_ ^= 1) {
      if (own_ == 0) {
        score();
        weigh(step);
        add_own(step);
        begin_other(step + 1);
        end_other();
      } else {
        score();
        begin_other(step);
        weigh(step + 1);
        end_other();
        add_own(step + 1);
      }
    }
    if (step >= work_.rounds.end) return;
    if (own_ == 0) {
      score();
      weigh(step);
      add_own(step);
    } else {
      begin_other(step);
      end_other();
    }
  }

  // Leaves the results in `smem.part`.
  __device__ void store() {
    auto sums = softmax_.sums();
    put(smem_.sum[own_], sums);
    sync(5, kConsumers);  // the tiles are free for the results, too
    get(smem_.sum[0], sums);
    typename Softmax::Vector others;
    get(smem_.sum[1], others);
    sums.map(others, [](f32 a, f32 b) { return a + b; });
    smem_.part.store(warp() * 16, own_ * kHalf, o_, softmax_.scaled_greatest(), sums);
  }

 private:
  using Vector = typename Softmax::Vector;
  __device__ static int warp() {
    return threadIdx.x % kWarpgroup / 32;
  }
  __device__ static int row(int s) {
    return warp() * 16 + Scores::Layout::row(s);
  }
  // Vectors in shared memory, with one number a row.
  __device__ static void put(f32 (&to)[ROWS], const Vector& from) {
#pragma unroll
    for (int s = 0; s < Scores::Layout::kRowSlots; ++s)
      if (threadIdx.x % Scores::Layout::kLanes == 0) to[row(s)] = from.x[s];
  }
  __device__ static void get(const f32 (&from)[ROWS], Vector& to) {
#pragma unroll
    for (int s = 0; s < Scores::Layout::kRowSlots; ++s) to.x[s] = from[row(s)];
  }
  __device__ void meet() const {
    sync(3 + own_, kWarpgroup);
  }
  __device__ void scale(const Vector& factor) {
    o_.map_rows(factor, [](f32 x, f32 f) { return x * f; });
  }

  // Computes the scores of this consumer's step of the pair, a part of the columns at a time. (A reference to the tile,
  // used in all parts, would keep descriptors out of the uniform registers, which takes 3 % longer.)
  __device__ void score() {
    score_half(0);
    score_half(1);
    smem_.rest.full[own_].wait(phase_);
    wgmma::multiply(s_, smem_.q.rest(), 0, smem_.k[own_].rest(), true);
    wgmma::wait<0>();
  }
  __device__ void score_half(int i) {
    smem_.half[i].full[own_].wait(phase_);
    wgmma::multiply(s_, smem_.q.half(i), 0, smem_.k[own_].half(i), i > 0);
  }
  // Converts them to weights, which it gives to the other consumer with the maximum.
  __device__ void weigh(int step) {
    const int first = step * BN;
    if (negative_) s_.map([](f32 x) { return -x; });
    if (first + BN > seen_by_all_) {
#pragma unroll
      for (int i = 0; i < Scores::Layout::kRegisters; ++i)
        if (first + Scores::Layout::column(i) > last_[Scores::Layout::slot(i)]) s_.x[i] = Softmax::kMasked;
    }
    moved_ = softmax_.weigh(s_, factor_);
    meet();  // no warp's product reads the rest of the tile any more
    ::store(smem_.k[own_].rest(), warp() * 16, 0, s_);
    put(smem_.greatest[own_], softmax_.greatest());
    tma::fence();
    arrive(1 + own_, kConsumers);
    weights_.round(s_);
  }
  // Adds the values of this consumer's step.
  __device__ void add_own(int step) {
    if (moved_) scale(factor_);
    clear_values(step, own_);
    wgmma::multiply(o_, weights_, smem_.k[own_].half(own_));
    wgmma::wait<0>();
    smem_.half[own_].release_warpgroup(own_);
  }
  // Adds those of the other's step, once its weights are there.
  __device__ void begin_other(int step) {
    const int other = own_ ^ 1;
    sync(1 + other, kConsumers);
    Vector greatest, factor;
    get(smem_.greatest[other], greatest);
    if (softmax_.follow(greatest, factor)) scale(factor);
    smem_.half[own_].full[other].wait(phase_);
    clear_values(step, other);
    wgmma::multiply(o_, smem_.k[other].rest(), smem_.k[other].half(own_));
  }
  __device__ void end_other() {
    wgmma::wait<0>();
    smem_.half[own_].release_warpgroup(own_ ^ 1);
    smem_.rest.release_warpgroup(own_ ^ 1);
  }
  // Clears the values beyond the sequence's keys, which a weight of zero would not hide if they are not finite.
  __device__ void clear_values(int step, int slot) {
    const int keys = work_.keys - step * BN;
    if (keys >= BN) return;
    clear_rows<kWarpgroup>(smem_.k[slot].half(own_), keys, threadIdx.x % kWarpgroup);
    tma::fence();
    meet();
  }

  Smem& smem_;
  const Work& work_;
  Softmax softmax_;
  const bool negative_;
  const int seen_by_all_;  // keys that every token sees
  const int own_ = uniform(threadIdx.x / kWarpgroup);
  int last_[Scores::Layout::kRowSlots];  // key that each row sees
  u32 phase_ = 0;
  bool moved_;
  Vector factor_;
  Scores s_;
  wgmma::Words<T, BN> weights_;
  Values o_;
};

// The consumers' part of a kernel until their results are in `smem.part`.
template <class Work>
__device__ inline void attend_latent(Smem& smem, const View<const T, 4>& Q, Work& work, f32 scale, const Dims& dims) {
  work.find_rows(dims);
  copy_queries<kConsumers>(smem.q, Q, work);
  tma::fence();
  sync(5, kConsumers);
  LatentAttention<Work> attention(smem, work, scale, dims.TOKENS);
  attention.attend();
  attention.store();
}

#endif
