#pragma once
// The roles of attention by tcgen05. A block has two tiles of 128 queries, each with a warpgroup that makes weights of
// scores, one row a thread. Scores, weights and results are in tensor memory; the weights of a step are in place of its
// scores, so that the products of a tile are issued in the order scores, results, next scores: products of one thread
// are executed in the order in which they are issued. While one tile's scores become weights, the other's are
// multiplied. The results are scaled by a third warpgroup, where a row's maximum has risen. With PAIR 2 a pair of
// blocks multiplies: each has half of a step's keys, and half of the elements of its values; the even block issues. T,
// HD, DV, BN, PAIR, STAGES, MULTIPLIED, the panels and Hooks are the template's.
#include "device/pipeline/attention_steps.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/tile/attention_hooks.cuh"
#include "device/tile/head_numbers.cuh"
#include "device/tile/online_softmax.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tcgen05_tile.cuh"
#include "device/tile/tma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr int kCorrectWarp = 8, kMultiplyWarp = 12, kLoadWarp = 13, kStoreWarp = 14;  // the first of each role
constexpr int kColumns = 512,
              kResults = 256;  // columns of tensor memory; where the results of tile 0 begin, after scores
constexpr int kNotices = 4;

using Scores = RegisterTile<layout::Lane<BN>>;
using Softmax = OnlineSoftmax<Scores, 8, 0, MULTIPLIED>;
using Queries = SharedTile<T, 128, HD, PANEL * 2>;
using Results = SharedTile<T, 128, DV, RESULT_PANEL * 2>;  // in place of the queries

struct Smem {
  Queries q[2];
  SharedTile<T, BN / PAIR, HD, PANEL * 2> k[STAGES];
  SharedTile<T, BN, DV / PAIR, VALUE_PANEL * 2> v[STAGES];
  Pipeline<STAGES> keys, values;
  Pipeline<kNotices> notices;  // under a mask
  Barrier queries;
  // Of each tile, a phase for each of its steps: its scores are made, and have become weights; the factor of its
  // results is there, has been read, and has been multiplied by.
  Barrier scored[2], weighed[2], factored[2], read[2], corrected[2];
  Barrier made[2], stored[2];  // a tile's results are complete; they are in shared memory
  f32 factor[2][128];
  int notice[kNotices];  // SeenSteps
  u32 address;           // in tensor memory

  __device__ Results& results(int tile) { return reinterpret_cast<Results&>(q[tile]); }
};
static_assert(sizeof(Smem) <= SMEM && sizeof(Results) <= sizeof(Queries));

// Called by one thread.
__device__ inline void init(Smem& smem) {
  smem.keys.init(1);
  smem.values.init(1);
  smem.notices.init(13);  // one that multiplies, eight warps that weigh, four that correct
  smem.queries.init(1);
  for (int t = 0; t < 2; ++t) {
    smem.scored[t].init(1);
    smem.weighed[t].init(4 * PAIR);
    smem.factored[t].init(4);
    smem.read[t].init(4);
    smem.corrected[t].init(4 * PAIR);
    smem.made[t].init(1);
    smem.stored[t].init(4);
  }
  fence_barrier_init();
}

__device__ inline int rank() {
  return PAIR == 1 ? 0 : cluster::rank();
}
// Returns the first of this block's rows of a tile, counted from the first of all blocks that multiply together.
__device__ inline int row_of(int tile) {
  return (tile * PAIR + rank()) * 128;
}
// Arrives on a barrier of the block that issues the products. Called by all lanes of a warp, after what they have done.
__device__ inline void arrive_at_issuer(Barrier& barrier) {
  tcgen05::fence_before();
  __syncwarp();
  if (threadIdx.x % 32 != 0) return;
  if constexpr (PAIR == 1)
    barrier.arrive();
  else
    barrier.arrive_release_at(0);
}
__device__ inline void wait_for_all(Barrier& barrier, u32 parity) {
  if constexpr (PAIR == 1)
    barrier.wait(parity);
  else
    barrier.wait_cluster(parity);
}

// The steps of a block, from the last to the first, as each role but the loading one learns them: all of them or, under
// a mask, those in the notices. A tile has those below `limit` of it.
template <bool Masked, bool ByWarp> class Steps {
 public:
  template <class Work> __device__ Steps(Smem& smem, const Work& work) : smem_(smem), notices_(smem.notices) {
    step = work.steps;
    first_limit_ = ceil_div<u32>(work.last(128 * PAIR - 1) + 1, BN);
    second_limit_ = ceil_div<u32>(work.last(256 * PAIR - 1) + 1, BN);
  }

  int step;
  bool whole = false;  // the mask hides none of the step's keys

  // Returns whether there is another step, and makes it the present one.
  __device__ bool next() {
    if constexpr (!Masked) return --step >= 0;
    const u32 slot = notices_.wait();
    const int seen = smem_.notice[slot];
    if constexpr (ByWarp) __syncwarp();
    if (!ByWarp || threadIdx.x % 32 == 0) smem_.notices.empty[slot].arrive();
    step = SeenStep::step(seen), whole = SeenStep::is_whole(seen);
    return seen >= 0;
  }
  // Returns whether the tile has the present step.
  __device__ bool has(int tile) const { return step < (tile == 0 ? first_limit_ : second_limit_); }

 private:
  Smem& smem_;
  Consumer<kNotices, 1> notices_;
  int first_limit_, second_limit_;
};

// Loads the block's queries, and step by step its shares of the keys and values. Called by a warp. Loop invariant:
// before the values of a step are requested, the keys of the next have been.
template <class Work>
__device__ inline void load(Smem& smem, const CUtensorMap& Q, const CUtensorMap& K, const CUtensorMap& V,
                            const Work& work, const Hooks& hooks, int all_keys) {
  const bool issues = threadIdx.x % 32 == 0, counts = rank() == 0;
  Producer keys(smem.keys), values(smem.values);
  Producer notices(smem.notices);
  SeenSteps<BN, TileMask<Work>> steps(work.steps, all_keys, {hooks, work});
  int left = work.steps;
  const auto next = [&] {
    if constexpr (!kMaskGiven) return --left;
    const int seen = steps.next();
    if (issues) {
      const u32 slot = notices.acquire();
      smem.notice[slot] = seen;
      smem.notices.full[slot].arrive();
    }
    return seen < 0 ? -1 : SeenStep::step(seen);
  };
  const auto load_keys = [&](int step) {
    if (!issues) return;
    const u32 slot = keys.acquire();
    if (counts) smem.keys.full[slot].expect(PAIR * sizeof(smem.k[0]));
    tma::load_of_pair<PAIR>(smem.k[slot], K, smem.keys.full[slot], work.key_at(step * BN + rank() * (BN / PAIR)).at);
  };
  int step = next();
  if (step < 0) return;
  load_keys(step);
  if (issues) {
    if (counts) smem.queries.expect(PAIR * sizeof(smem.q));
    for (int t = 0; t < 2; ++t) tma::load_of_pair<PAIR>(smem.q[t], Q, smem.queries, work.query_at(row_of(t)).at);
  }
#pragma unroll 1
  while (step >= 0) {
    const int after = next();
    if (after >= 0) load_keys(after);
    if (issues) {
      const u32 slot = values.acquire();
      if (counts) smem.values.full[slot].expect(PAIR * sizeof(smem.v[0]));
      const auto at = work.key_at(step * BN);
      tma::load_of_pair<PAIR>(smem.v[slot], V, smem.values.full[slot],
                              {at.at[0] + rank() * (DV / PAIR), at.at[1], at.at[2]});
    }
    step = after;
  }
  __syncwarp();
}

// Issues the products. Called by one thread of the even block. Loop invariant: before the results of a step, the scores
// of this step have been issued, of both tiles.
template <class Work> __device__ inline void multiply(Smem& smem, const Work& work, bool negative) {
  Steps<kMaskGiven, false> steps(smem, work);
  if (!steps.next()) return;
  Consumer keys(smem.keys), values(smem.values);
  bool begun[2] = {};
  u32 phase[2] = {};
  const auto score = [&](int t, u32 slot) {
    tcgen05::multiply<PAIR>(smem.address + t * 128, smem.q[t], smem.k[slot], false, negative);
    tcgen05::commit_blocks<PAIR>(smem.scored[t]);
  };
  smem.queries.wait(0);
  u32 slot = keys.wait();
  tcgen05::fence_after();
  bool has[2] = {steps.has(0), steps.has(1)};
  for (int t = 0; t < 2; ++t)
    if (has[t]) score(t, slot);
  tcgen05::commit_blocks<PAIR>(smem.keys.empty[slot]);
#pragma unroll 1
  while (true) {
    const bool more = steps.next();
    const u32 from = values.wait();
    if (more) slot = keys.wait();
    tcgen05::fence_after();
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      if (has[t]) {
        wait_for_all(smem.weighed[t], phase[t]);
        if (begun[t]) wait_for_all(smem.corrected[t], phase[t] ^ 1);
        tcgen05::fence_after();
        tcgen05::multiply_rows<PAIR>(smem.address + kResults + t * 128, smem.address + t * 128, smem.v[from], begun[t]);
        if (!more) tcgen05::commit_blocks<PAIR>(smem.made[t]);
        begun[t] = true, phase[t] ^= 1;
      }
      has[t] = more && steps.has(t);
      if (has[t]) score(t, slot);
    }
    if (!more) break;  // nothing may be in flight when tensor memory is freed but what others wait for
    tcgen05::commit_blocks<PAIR>(smem.values.empty[from]);
    tcgen05::commit_blocks<PAIR>(smem.keys.empty[slot]);
  }
}

// Converts the scores of a tile to weights, one query a thread. Called by a warpgroup. Loop invariant: before a step,
// the weights of the steps before have been handed over, and the factors of their results, of all but the first.
template <class Work>
__device__ inline void weigh(Smem& smem, const View<f32, 2>& L, const Work& work, int tile, f32 sink, f32 scale,
                             const Hooks& hooks) {
  const int lanes = threadIdx.x / 32 % 4 * 32, row = row_of(tile) + lanes, lane = threadIdx.x % 128;
  const int whole = (work.last(row_of(tile)) + 1) / BN;
  const u32 at = tensor_memory::at(smem.address, lanes, tile * 128);
  const ScoreHooks<Work> hook = {hooks, work};
  Softmax softmax(score_unit(hooks, scale), sink);
  bool begun = false, given = false;
  u32 phase = 0, free = 1;  // of `read`
  const auto give = [&](f32 factor) {
    smem.read[tile].wait(free);
    free ^= 1;
    smem.factor[tile][lane] = factor;
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem.factored[tile].arrive();
  };
  Steps<kMaskGiven, true> steps(smem, work);
#pragma unroll 1
  while (steps.next()) {
    if (!steps.has(tile)) continue;
    smem.scored[tile].wait(phase);
    phase ^= 1;
    tcgen05::fence_after();
    Scores s;
    tcgen05::load(s, at);
    const int key = steps.step * BN;
    if constexpr (kScoreGiven) hook.apply_score(s, scale, row, key);
    if (kMaskGiven ? !steps.whole : steps.step >= whole)
      s.map_at([&](f32 x, int r, int c) { return hook.sees(row + r, key + c) ? x : Softmax::kMasked; });
    typename Softmax::Vector factor;
    const bool moved = softmax.rise(s, factor);
    if (begun) give(moved ? factor.x[0] : 1);
    begun = true;
    softmax.convert(s);
    tcgen05::store_rounded<T>(at, s);
    tensor_memory::wait_st();
    arrive_at_issuer(smem.weighed[tile]);
  }
  const auto inverse = softmax.inverse_sums();
  if constexpr (LSE) store_log_sums(L, softmax, work, row);
  if (begun) give(inverse.x[0]);
}

// Scales the results of both tiles where a maximum has risen, and at the end by the inverse of the sums; leaves them in
// shared memory. Called by a warpgroup. Loop invariant: before a step, the results of the steps before are relative to
// the maxima that the weights of the last of them are relative to. That the factor of a step is there says that its
// scores are made, and so that the results of the step before, which were issued earlier, are complete.
template <class Work> __device__ inline void correct(Smem& smem, const Work& work) {
  const int lanes = threadIdx.x / 32 % 4 * 32, lane = threadIdx.x % 128;
  u32 begun = 0, phase = 0;  // a bit for each tile
  const auto take = [&](int t) {
    smem.factored[t].wait(phase >> t & 1);
    phase ^= 1u << t;
    const f32 factor = smem.factor[t][lane];
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem.read[t].arrive();
    return factor;
  };
  Steps<kMaskGiven, true> steps(smem, work);
#pragma unroll 1
  while (steps.next()) {
#pragma unroll 1
    for (int t = 0; t < 2; ++t) {
      if (!steps.has(t)) continue;
      if ((begun >> t & 1) != 0) {
        const f32 factor = take(t);
        if (__any_sync(0xffffffff, factor != 1)) {
          tcgen05::fence_after();
#pragma unroll
          for (int column = 0; column < DV; column += 32) {
            const u32 at = tensor_memory::at(smem.address, lanes, kResults + t * 128 + column);
            RegisterTile<layout::Lane<32>> part;
            tcgen05::load(part, at);
            part.map([&](f32 x) { return x * factor; });
            tcgen05::store(at, part);
          }
          tensor_memory::wait_st();
        }
        arrive_at_issuer(smem.corrected[t]);
      }
      begun |= 1u << t;
    }
  }
#pragma unroll 1
  for (int t = 0; t < 2; ++t) {
    const bool any = (begun >> t & 1) != 0;
    const f32 inverse = any ? take(t) : 0;
    if (any) smem.made[t].wait(0);
    tcgen05::fence_after();
#pragma unroll
    for (int column = 0; column < DV; column += 32) {
      RegisterTile<layout::Lane<32>> part;
      part.fill(0);
      if (any) tcgen05::load(part, tensor_memory::at(smem.address, lanes, kResults + t * 128 + column));
      part.map([&](f32 x) { return x * inverse; });
      ::store(smem.results(t), lanes, column, part);  // overwrites the queries, whose last product is complete
    }
    tma::fence();
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem.stored[t].arrive();
  }
}

// Stores the results of both tiles. Called by one thread.
template <class Work> __device__ inline void store(Smem& smem, const CUtensorMap& O, const Work& work) {
  for (int t = 0; t < 2; ++t) {
    smem.stored[t].wait(0);
    tma::store(O, smem.results(t), work.query_at(row_of(t)).at);
  }
  tma::commit();
  tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

#endif
