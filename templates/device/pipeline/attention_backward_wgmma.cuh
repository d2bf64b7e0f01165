#pragma once
// What the files of attention's backward pass by wgmma share. A block makes the gradients of tiles of 128 keys and
// values, 64 of each a consumer warpgroup, and adds what they give to the gradients of queries to sums in a workspace.
// T, HD, HV, SIZE, VALUE_SIZE, STEP, STAGES, ATOMIC and SMEM are the template's.
#include "device/epilogue/query_sums.cuh"
#include "device/pipeline/tma_attention_backward.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ptx/stmatrix.cuh"
#include "device/ptx/uniform.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/wgmma_operand.cuh"
#include "device/tile/wgmma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr bool kOrdered = ATOMIC == 0;

template <class Work> struct BackwardSmem {
  SharedTile<T, 64, SIZE> keys[2];  // of each consumer
  SharedTile<T, 64, VALUE_SIZE> values[2];
  SharedTile<T, STEP, SIZE> queries[STAGES];
  SharedTile<T, STEP, VALUE_SIZE> result_gradients[STAGES];
  SharedTile<T, 64, STEP> gradients[3][2];  // of the scores of three steps, of each consumer
  StagedSums<kOrdered> staged[2];           // of each consumer
  alignas(8) f32 log_sum[STAGES][STEP], minus_delta[STAGES][STEP];
  StepRecord records[STAGES];
  int numbers[2];          // of items
  Work tiles[2];           // of the same items, if they have one
  Pipeline<STAGES> steps;  // queries, gradients of results, log_sum, minus_delta and records
  Pipeline<1> own;         // keys and values
  Pipeline<2> items;       // numbers and tiles
  Barrier stored[2][2];    // of each consumer and even and odd steps: it has stored its gradients of scores
  Barrier added;           // the consumers have added all that a tile gives

  // Called by one thread, followed by a barrier of the block. Each warp but the producer reads every item.
  __device__ void init() {
    steps.init(2, 2);
    own.init(2);
    items.init(11);
    for (auto& of : stored) of[0].init(1), of[1].init(1);
    for (auto& of : staged) of.init();
    added.init(8);
    fence_barrier_init();
  }
};

// The items that the producer draws, as a warp reads them, one after the other.
//   for (ItemReader items(smem); items.number() < count; items.next()) { ... items.tile() ... }
template <class Smem> class ItemReader {
 public:
  __device__ explicit ItemReader(Smem& smem) : smem_(smem), ring_(smem.items), slot_(ring_.wait()) {}

  __device__ int number() const { return uniform(smem_.numbers[slot_]); }
  __device__ const auto& tile() const { return smem_.tiles[slot_]; }
  __device__ void next() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.items.empty[slot_].arrive();
    slot_ = ring_.wait();
  }

 private:
  Smem& smem_;
  Consumer<2, 1> ring_;
  u32 slot_;
};

// A consumer warpgroup. All scores are transposed, so that weights are an operand of the product for DV as they are.
// The gradients of scores are in shared memory, for the products for DK and DQ. While a step's weights are computed,
// the tensor cores make what the step before left: its part of DK, and the part of DQ of the one before that, for which
// the gradients of both consumers are needed. Each consumer makes 64 x 64 elements of a step's DQ, from all keys.
template <class Work> class KeyGradients {
 public:
  using Smem = BackwardSmem<Work>;

  __device__ KeyGradients(Smem& smem, const Hooks& hooks, f32 scale, const QuerySums& sums)
      : smem_(smem),
        hooks_(hooks),
        scale_(scale),
        sums_(sums),
        consumer_(uniform(threadIdx.x / kWarpgroup)),
        keys_(wgmma::operand<Major::k>(smem.keys[consumer_])),
        values_(wgmma::operand<Major::k>(smem.values[consumer_])),
        all_keys_(wgmma::operand<Major::mn>(smem.keys[0])),
        own_(smem.own) {}

  // Makes the gradients of the consumer's 64 keys of a tile.
  __device__ void make(const Work& work, const View<T, 3>& DK, const View<T, 3>& DV) {
    dk_.fill(0);
    dv_.fill(0);
    await_step();
    if (uniform(smem_.records[count_ % STAGES].none())) {
      smem_.staged[consumer_].give_none(staged_);
      sync(1 + consumer_, kWarpgroup);
      publish_step();
      smem_.steps.release_warpgroup(slot());
      store(work, DK, DV);
    } else {
      own_.wait();
      Scores s;
      multiply_scores(s);
      bool more = finish_step<0>(work, s);
      if (more) {
        more = step<true>(work);
#pragma unroll 1
        while (more) more = step<false>(work);
        multiply_keys();
        multiply_query(count_ + 1);
        wgmma::wait<0>();
        give(giving_, false);
      } else {
        multiply_keys();
        wgmma::wait<0>();
      }
      smem_.steps.release_warpgroup(slot());
      await_other();
      multiply_query(count_ + 2);
      store(work, DK, DV);
      wgmma::wait<0>();
      smem_.own.release_warpgroup(0);
      give(next_, true);
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.added.arrive();
  }

 private:
  using Major = wgmma::Major;
  using Scores = RegisterTile<layout::Mma<16, STEP>>;  // a row for each key
  using QueryGradient = RegisterTile<layout::Mma<16, 64>>;

  __device__ static int row() { return threadIdx.x / 32 * 16; }  // of the tile, the warp's first
  __device__ u32 slot() const { return (count_ - 1) % STAGES; }  // of the last step that was published

  __device__ void await_step() { smem_.steps.full[count_ % STAGES].wait(count_ / STAGES % 2); }
  // Tells the other consumer that this one has stored its gradients of a step's scores.
  __device__ void publish_step() {
    if (threadIdx.x % kWarpgroup == 0) smem_.stored[consumer_][count_ % 2].arrive();
    ++count_;
  }
  // Starts the products of the next step's scores, DK of the step before it and DQ of the one before that, unless there
  // is none because the step before was the tile's First, and processes the step. Returns whether another one follows.
  template <bool First> __device__ bool step(const Work& work) {
    await_step();
    keys_.keep(), values_.keep(), all_keys_.keep();
    Scores s;
    multiply_scores(s);
    multiply_keys();
    if constexpr (!First) multiply_query(count_ + 1);
    return finish_step<First ? 1 : 2>(work, s);
  }

  // The rest of a step, the products of whose scores have been started, and after them Pending others. Returns whether
  // another step follows.
  template <int Pending> __device__ bool finish_step(const Work& work, Scores& s) {
    const u32 slot = count_ % STAGES;
    const StepRecord& record = smem_.records[slot];
    const int flags = uniform(record.flags);
    Scores ds;
    wgmma::Words<T, STEP> weights;
    wgmma::wait<Pending>();
    if constexpr (!kScoreGiven) weigh(s, work, record, flags & StepRecord::kWhole);
    if constexpr (Pending > 0) {
      wgmma::wait<0>();
      smem_.steps.release_warpgroup(this->slot());
      if constexpr (Pending > 1) give(giving_, false);
    }
    if constexpr (!kScoreGiven) weights.round(s);
    wgmma::multiply<VALUE_SIZE>(ds, values_, wgmma::operand<Major::k>(smem_.result_gradients[slot]), false);
    if constexpr (kScoreGiven) {
      wgmma::wait<0>();
      ds.map_columns(smem_.minus_delta[slot], [](f32 x, f32 d) { return x + d; });
      apply_score(s, ds, work, record, flags & StepRecord::kWhole);
      weights.round(s);
      multiply_values(weights);
    } else {
      multiply_values(weights);
      wgmma::wait<1>();
      ds.map_columns(smem_.minus_delta[slot], [](f32 x, f32 d) { return x + d; });
      ds.multiply(s);
    }
    if constexpr (Pending > 0) await_other();
    store_words(smem_.gradients[count_ % 3][consumer_], ds);
    fence::proxy_async_shared();
    giving_ = next_;
    next_ = {record.number, record.rank};
    sync(1 + consumer_, kWarpgroup);  // after which the warps read nothing of the slot but by wgmma
    publish_step();
    wgmma::wait<0>();
    return !(flags & StepRecord::kLast);
  }

  __device__ void multiply_scores(Scores& s) {
    wgmma::multiply<SIZE>(s, keys_, wgmma::operand<Major::k>(smem_.queries[count_ % STAGES]), false);
  }
  __device__ void multiply_values(const wgmma::Words<T, STEP>& weights) {
    const auto b = wgmma::operand<Major::mn>(smem_.result_gradients[count_ % STAGES]);
    wgmma::fence();
#pragma unroll
    for (int k = 0; k < STEP; k += 16)
      wgmma::Mma<VALUE_SIZE, T>::template rs<wgmma::Mode<Major::k, Major::mn>>(dv_.x, weights.x[k / 16], b.at(k), true);
    wgmma::commit();
  }
  // Starts DK's products of the step whose gradients of scores have been stored last.
  __device__ void multiply_keys() {
    wgmma::multiply<STEP>(dk_, wgmma::operand<Major::k>(smem_.gradients[(count_ + 2) % 3][consumer_]),
                          wgmma::operand<Major::mn>(smem_.queries[slot()]), true);
  }
  // Starts this consumer's part of the gradients of the queries of a step, counted modulo 3.
  __device__ void multiply_query(u32 step) {
    const int rows = SIZE == 64 ? consumer_ : 0, columns = SIZE == 64 ? 0 : consumer_;
    constexpr int kKeys = sizeof(smem_.keys[0]) / 128;  // rows of 128 bytes from one consumer's to the other's
    constexpr int kGradients = sizeof(smem_.gradients[0][0]) / 128;
    const auto gradients = wgmma::operand<Major::mn>(smem_.gradients[step % 3][0]);
    wgmma::fence();
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int k = 0; k < 64; k += 16)
        wgmma::Mma<64, T>::template ss<wgmma::Mode<Major::mn, Major::mn>>(
            dq_.x, gradients.at(i * kGradients + k, rows), all_keys_.at(i * kKeys + k, columns), i + k > 0);
    wgmma::commit();
  }
  // Adds what multiply_query has made.
  __device__ void give(const SumsPlace& to, bool last) {
    smem_.staged[consumer_].give(sums_, staged_, dq_, to, last, consumer_);
  }
  // Waits until the other consumer has stored its gradients of the scores of the step before.
  __device__ void await_other() {
    const u32 step = count_ - 1;
    smem_.stored[1 - consumer_][step % 2].wait(step / 2 % 2);
  }

  // Converts the step's scores to weights.
  __device__ void weigh(Scores& s, const Work& work, const StepRecord& record, bool whole) const {
    s.map_columns(smem_.log_sum[count_ % STAGES], [this](f32 x, f32 l) { return ex2(fmaf(x, scale_ * kLog2e, l)); });
    if (whole) return;
    if constexpr (kMaskGiven) {
      s.map_at([&](f32 x, int r, int c) {
        const int query = record.query + c, key = work.first + row() + r;
        const bool seen = hooks_.mask(work.position(query), key, record.head) != 0;
        return work.sees(query, key) && seen ? x : 0;
      });
    } else {
      const int keys = work.keys - work.first - row();
      const int first = CAUSAL ? work.first - work.shift + row() - record.query : -STEP;
      s.map_at([=](f32 x, int r, int c) { return r < keys && c >= first + r ? x : 0; });
    }
  }
  // Converts the step's scores to weights, and the gradients of weights to those of scaled products.
  __device__ void apply_score(Scores& s, Scores& ds, const Work& work, const StepRecord& record, bool whole) const {
    struct Place {
      int query, position, key;
      f32 exponent;
    };
    const auto at = [&](int i) {
      const int column = Scores::Layout::column(i), query = record.query + column;
      return Place{query, work.position(query), work.first + row() + Scores::Layout::row(Scores::Layout::slot(i)),
                   smem_.log_sum[count_ % STAGES][column]};
    };
    const GradientHooks gradients = {hooks_, scale_};
    if (whole)
      gradients.apply(s, ds, record.head, at, [](const Place&) { return false; });
    else
      gradients.apply(s, ds, record.head, at, [&](const Place& p) {
        const bool seen = hooks_.mask(p.position, p.key, record.head) != 0;
        return !(work.sees(p.query, p.key) && seen);
      });
  }

  // Rounds and stores the warp's rows of a tile. Within a row of a panel places differ in one exclusive or.
  __device__ static void store_words(SharedTile<T, 64, STEP>& to, const Scores& from) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int p = 0; p < to.kPanels; ++p) {
      const u32 at = to.part(p).row_address(threadIdx.x % kWarpgroup / 32 * 16 + lane % 16, lane / 16 * 16, 0);
#pragma unroll
      for (int j = 0; j < to.kPanel; j += 16) {
        const f32* const x = &from.x[(p * to.kPanel + j) / 2];
        mma::stmatrix_x4(at ^ (j * 2), pack<T>(x[0], x[1]), pack<T>(x[2], x[3]), pack<T>(x[4], x[5]),
                         pack<T>(x[6], x[7]));
      }
    }
  }

  __device__ void store(const Work& work, const View<T, 3>& DK, const View<T, 3>& DV) const {
    const int first = work.first + row();
    const auto rows_of = [&](const View<T, 3>& of) {
      const View<T, 2> keys = work.keys_of(of);
      return View<T, 2>{keys.data + s64{first} * keys.stride[0], {keys.stride[0], 1}};
    };
    store_gradient(rows_of(DK), dk_, scale_, work.keys - first, HD);
    store_gradient(rows_of(DV), dv_, 1, work.keys - first, HV);
  }

  Smem& smem_;
  const Hooks& hooks_;
  const f32 scale_;
  const QuerySums& sums_;
  const int consumer_;
  wgmma::Operand<T, 64, SIZE, Major::k> keys_;          // of this consumer
  wgmma::Operand<T, 64, VALUE_SIZE, Major::k> values_;  // likewise
  wgmma::Operand<T, 64, SIZE, Major::mn> all_keys_;     // of both
  Consumer<1, 1> own_;
  Ring<1> staged_;
  RegisterTile<layout::Mma<16, SIZE>> dk_;
  RegisterTile<layout::Mma<16, VALUE_SIZE>> dv_;
  QueryGradient dq_;
  u32 count_ = 0;            // steps that have been published
  SumsPlace giving_, next_;  // of the step that dq_ is of, and of the one after it
};

// Adds what the consumers leave in the fixed order, or tells that they have added it. Called by a warp; where the order
// is fixed, by one for each consumer.
template <bool Ordered, class Smem, class Items>
__device__ inline void add_shares(Smem& smem, const Items& items, const QuerySums& sums, int consumer) {
  Ring<1> ring;
  for (ItemReader<Smem> reader(smem); reader.number() < items.count(); reader.next()) {
    if (!items.has_tile(reader.number()) || threadIdx.x % 32 != 0) continue;
    if constexpr (Ordered) {
      while (!smem.staged[consumer].add(sums, ring, consumer)) {
      }
      global::add_release(sums.added(reader.tile().kv_head), 1);
    } else {
      smem.added.wait(ring.phase);
      ring.advance();
      global::add_release(sums.added(reader.tile().kv_head), 2);
    }
  }
}

// Rounds pieces of the sums: those of items with a tile, beside the consumers, or those of the others. Called by
// Threads threads, of which this is number `thread`; uses a named barrier.
template <int Threads, bool OfTiles, class Items> class PieceRounder {
 public:
  __device__ PieceRounder(const Items& items, const QuerySums& sums, const View<T, 3>& DQ, f32 scale, const Dims& dims)
      : items_(items), sums_(sums), DQ_(DQ), scale_(scale), dims_(dims) {}

  __device__ void round(int item, int thread, int barrier) const {
    if (!items_.has_piece(item) || items_.has_tile(item) != OfTiles) return;
    const auto rows_of = [&](int head) {
      return View<T, 2>{DQ_.data + head * DQ_.stride[0], {DQ_.stride[1], 1}};
    };
    round_sums<Threads, SIZE, kOrdered>(sums_, items_.piece(item), 2 * items_.tiles_of_head(), items_.pieces_of_head(),
                                        scale_, dims_.M, HD, rows_of, thread, barrier);
  }

 private:
  const Items& items_;
  const QuerySums& sums_;
  const View<T, 3>& DQ_;
  const f32 scale_;
  const Dims& dims_;
};

#endif
