#pragma once
// What the files of attention's backward pass by wgmma share. A block makes the gradients of tiles of 128 keys and
// values, 64 of each a consumer warpgroup, and adds what they give to the gradients of queries to sums in a workspace.
// T, HD, HV, SIZE, VALUE_SIZE, STEP, STAGES, RESULTS, ATOMIC and SMEM are the template's.
#include "device/epilogue/query_sums.cuh"
#include "device/pipeline/tma_attention_backward.cuh"
#include "device/ptx/lane.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ptx/stmatrix.cuh"
#include "device/ptx/uniform.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/wgmma_operand.cuh"
#include "device/tile/wgmma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr bool kOrdered = ATOMIC == 0;
constexpr int kRounders = 64;  // threads that round pieces of sums beside the consumers

template <class Items> struct BackwardSmem {
  using Work = typename Items::Work;

  SharedTile<T, 64, SIZE> keys[2];  // of each consumer
  SharedTile<T, 64, VALUE_SIZE> values[2];
  SharedTile<T, STEP, SIZE> queries[STAGES];
  SharedTile<T, STEP, VALUE_SIZE> result_gradients[RESULTS];
  SharedTile<T, 64, STEP> gradients[3][2];  // of the scores of three steps, of each consumer
  RoundedSums<kRounders> rounded;
  alignas(8) f32 log_sum[STAGES][STEP], minus_delta[RESULTS][STEP];
  StepRecord records[kStepRecords];
  Items all;  // that the grid draws
  DrawnItem<Work> drawn[2];
  u32 count;                  // of the items drawn, of which those with tiles come first
  Pipeline<STAGES> steps;     // queries, log_sum and records
  Pipeline<RESULTS> results;  // gradients of results and minus_delta
  Pipeline<1> own;            // keys and values
  Pipeline<2> items;          // of `drawn`
  Barrier stored[2][2];       // of each consumer and even and odd steps: it has stored its gradients of scores
  Barrier turn[2][2];         // likewise: it may add what the step gives; only where the order is fixed
  Barrier given[2];           // of each consumer: it has added that, or where any order will do, all that a tile gives

  // Called by one thread, followed by a barrier of the block. Each warp but the producer reads every item.
  template <class... Offsets> __device__ void init(const Dims& dims, const Offsets&... offsets) {
    all = Items(dims, offsets...);
    count = 0;
    steps.init(2, 2);
    results.init(2, 2);
    own.init(2);
    items.init(11);
    for (auto& of : stored) of[0].init(1), of[1].init(1);
    for (auto& of : turn) of[0].init(1), of[1].init(1);
    for (auto& of : given) of.init(4);
    fence_barrier_init();
  }
};

// The items that the producer draws, as a warp reads them, one after the other.
//   for (ItemReader items(smem); items.more(); items.next()) { ... items->tile ... }
template <class Smem> class ItemReader {
 public:
  __device__ explicit ItemReader(Smem& smem) : smem_(smem) { wait(); }

  __device__ bool more() const { return !has(kEnd); }
  __device__ bool has(ItemFlag flag) const { return uniform(smem_.drawn[count_ % 2].flags) & flag; }
  __device__ u32 index() const { return count_; }
  __device__ const auto* operator->() const { return &smem_.drawn[count_ % 2]; }
  __device__ void next() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.items.empty[count_ % 2].arrive();
    ++count_;
    wait();
  }

 private:
  __device__ void wait() { smem_.items.full[count_ % 2].wait(count_ / 2 % 2); }

  Smem& smem_;
  u32 count_ = 0;  // of the items before the current one
};

// A consumer warpgroup. All scores are transposed, so that weights are an operand of the product for DV as they are.
// The gradients of scores are in shared memory, for the products for DK and DQ. While a step's weights are computed,
// the tensor cores make what the step before left: its part of DK, and the part of DQ of the one before that, for which
// the gradients of both consumers are needed. Each consumer makes 64 x 64 elements of a step's DQ, from all keys.
template <class Smem> class KeyGradients {
 public:
  using Work = typename Smem::Work;

  __device__ KeyGradients(Smem& smem, const Hooks& hooks, f32 scale, const QuerySums& sums)
      : smem_(smem),
        hooks_(hooks),
        scale_(scale),
        sums_(sums),
        consumer_(uniform(threadIdx.x / kWarpgroup)),
        warp_row_(uniform(threadIdx.x % kWarpgroup / 32 * 16)),
        keys_(wgmma::operand<Major::k>(smem.keys[consumer_])),
        values_(wgmma::operand<Major::k>(smem.values[consumer_])),
        all_keys_(wgmma::operand<Major::mn>(smem.keys[0])) {}

  // Makes the gradients of the consumer's 64 keys of the tile that is the block's index-th.
  __device__ void make(const Work& work, u32 index, const View<T, 3>& DK, const View<T, 3>& DV) {
    dk_.fill(0);
    dv_.fill(0);
    smem_.own.full[0].wait(index % 2);
    if constexpr (Work::kRagged) clear_keys(work);
    await_step(work);
    if (uniform(smem_.records[count_ % kStepRecords].none())) {
      sync(1 + consumer_, kWarpgroup);
      smem_.results.release_warpgroup(count_ % RESULTS);
      publish_step();
      smem_.steps.release_warpgroup(slot());
      smem_.own.release_warpgroup(0);
      store(work, DK, DV, 1);
    } else {
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
        give(2);
      } else {
        multiply_keys();
        wgmma::wait<0>();
      }
      smem_.steps.release_warpgroup(slot());
      await_other();
      multiply_query(count_ + 2);
      store(work, DK, DV, scale_);
      wgmma::wait<0>();
      smem_.own.release_warpgroup(0);
      give(1);
    }
    if constexpr (!kOrdered) tell_given();
  }

 private:
  using Major = wgmma::Major;
  using Scores = RegisterTile<layout::Mma<16, STEP>>;  // a row for each key
  using Part = RegisterTile<layout::Mma<16, 64>>;      // 64 columns of such a tile
  static constexpr int kParts = STEP / 64;

  __device__ int row() const {
    return consumer_ * 64 + warp_row_;
  }  // of the tile, the warp's first
  __device__ u32 slot() const {
    return (count_ - 1) % STAGES;
  }  // of the last step that was published

  __device__ void await_step(const Work& work) {
    smem_.steps.full[count_ % STAGES].wait(count_ / STAGES % 2);
    if constexpr (Work::kRagged) clear_queries(work);
  }
  // Clears what follows the sequence's last key in the tile: the next sequence's, or none, which a weight of zero would
  // not hide where it is not finite.
  __device__ void clear_keys(const Work& work) {
    const int left = uniform(work.keys - work.first);
    if (left >= 128) return;
    const int rows = max(0, min(left - consumer_ * 64, 64));
    clear_rows<kWarpgroup>(smem_.keys[consumer_], rows, threadIdx.x % kWarpgroup);
    clear_rows<kWarpgroup>(smem_.values[consumer_], rows, threadIdx.x % kWarpgroup);
    meet();
  }
  // The same of a step's queries and of the gradients of their results, each by one consumer.
  __device__ void clear_queries(const Work& work) {
    const StepRecord& record = smem_.records[count_ % kStepRecords];
    const int left = uniform(record.none() ? STEP : work.queries - record.query);
    if (left >= STEP) return;
    smem_.results.full[count_ % RESULTS].wait(count_ / RESULTS % 2);
    if (consumer_ == 0)
      clear_rows<kWarpgroup>(smem_.queries[count_ % STAGES], left, threadIdx.x % kWarpgroup);
    else
      clear_rows<kWarpgroup>(smem_.result_gradients[count_ % RESULTS], left, threadIdx.x % kWarpgroup);
    meet();
  }
  // Waits for the other consumer, after which both multiply what either has written.
  __device__ static void meet() {
    fence::proxy_async_shared();
    sync(5, 2 * kWarpgroup);
  }
  // Tells the other consumer that this one has stored its gradients of a step's scores.
  __device__ void publish_step() {
    if (threadIdx.x % kWarpgroup == 0) smem_.stored[consumer_][count_ % 2].arrive();
    ++count_;
  }
  // Starts the products of the next step's scores, DK of the step before it and DQ of the one before that, unless there
  // is none because the step before was the tile's First, and processes the step. Returns whether another one follows.
  template <bool First> __device__ bool step(const Work& work) {
    await_step(work);
    keys_.keep(), values_.keep(), all_keys_.keep();
    Scores s;
    if constexpr (!First) multiply_query(count_ + 1);
    multiply_scores(s);
    multiply_keys();
    return finish_step < First ? 1 : 2 > (work, s);
  }

  // The rest of a step, the products of whose scores have been started, and after them Pending others. Returns whether
  // another step follows.
  template <int Pending> __device__ bool finish_step(const Work& work, Scores& s) {
    const StepRecord& record = smem_.records[count_ % kStepRecords];
    const int flags = uniform(record.flags);
    wgmma::wait<Pending == 0 ? 0 : 1>();
    if constexpr (Pending > 1) give(2);
    if constexpr (!kScoreGiven) weigh(s, work, record, flags & StepRecord::kWhole);
    if constexpr (Pending > 0) {
      wgmma::wait<0>();
      smem_.steps.release_warpgroup(this->slot());
      await_other();
    }
    const u32 slot = count_ % RESULTS;
    smem_.results.full[slot].wait(count_ / RESULTS % 2);
    wgmma::Words<T, 64> weights[kParts];
#pragma unroll
    for (int p = 0; p < kParts; ++p) finish_part(s, weights[p], work, record, flags & StepRecord::kWhole, slot, p);
    fence::proxy_async_shared();
    sync(1 + consumer_, kWarpgroup);  // after which the warps read nothing of the slot but by wgmma
    publish_step();
    wgmma::wait<0>();
    smem_.results.release_warpgroup(slot);
    return !(flags & StepRecord::kLast);
  }

  __device__ void multiply_scores(Scores& s) {
    wgmma::multiply<SIZE>(s, keys_, wgmma::operand<Major::k>(smem_.queries[count_ % STAGES]), false);
  }
  // Makes the gradients of 64 queries' scores, stores them, and starts DV's products, which read `weights`.
  __device__ void finish_part(Scores& s, wgmma::Words<T, 64>& weights, const Work& work, const StepRecord& record,
                              bool whole, u32 slot, int p) {
    Part part = s.template columns<64>(p * 64), ds;
    if constexpr (!kScoreGiven) weights.round(part);
    const auto& gradients = smem_.result_gradients[slot];
    wgmma::multiply<VALUE_SIZE>(ds, values_, wgmma::operand<Major::k>(gradients, p * 64), false);
    if constexpr (kScoreGiven) {
      wgmma::wait<0>();
      ds.map_columns(&smem_.minus_delta[slot][p * 64], [](f32 x, f32 d) { return x + d; });
      apply_score(part, ds, work, record, whole, p * 64, smem_.log_sum[count_ % STAGES]);
      weights.round(part);
    }
    const auto b = wgmma::operand<Major::mn>(gradients, p * 64);
    wgmma::fence();
#pragma unroll
    for (int k = 0; k < 64; k += 16)
      wgmma::Mma<VALUE_SIZE, T>::template rs<wgmma::Mode<Major::k, Major::mn>>(dv_.x, weights.x[k / 16], b.at(k), true);
    wgmma::commit();
    if constexpr (!kScoreGiven) {
      wgmma::wait<1>();
      ds.map_columns(&smem_.minus_delta[slot][p * 64], [](f32 x, f32 d) { return x + d; });
      ds.multiply(part);
    }
    store_words(smem_.gradients[count_ % 3][consumer_].part(p), ds);
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
  // Adds what multiply_query has made, of the step that was published `ago` steps ago.
  __device__ void give(u32 ago) {
    const u32 step = count_ - ago;
    if constexpr (kOrdered) smem_.turn[consumer_][step % 2].wait(step / 2 % 2);
    add_share(sums_.of(smem_.records[step % kStepRecords].number, consumer_), dq_);
    if constexpr (kOrdered) tell_given();
  }
  __device__ void tell_given() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.given[consumer_].arrive();
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
  // Converts the scores of the queries from the step's `first` on to weights, and the gradients of weights to those of
  // scaled products.
  __device__ void apply_score(Part& s, Part& ds, const Work& work, const StepRecord& record, bool whole, int first,
                              const f32* exponents) const {
    struct Place {
      int query, position, key;
      f32 exponent;
    };
    const auto at = [&](int i) {
      const int column = first + Part::Layout::column(i), query = record.query + column;
      return Place{query, work.position(query), work.first + row() + Part::Layout::row(Part::Layout::slot(i)),
                   exponents[column]};
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
  // Rounds and stores the warp's rows of a panel. Within a row places differ in one exclusive or.
  __device__ void store_words(SharedTile<T, 64, 64>& to, const Part& from) const {
    const int lane = lane_anew();
    const u32 at = to.row_address(warp_row_ + lane % 16, lane / 16 * 16, 0);
#pragma unroll
    for (int j = 0; j < 64; j += 16) {
      const f32* const x = &from.x[j / 2];
      mma::stmatrix_x4(at ^ (j * 2), pack<T>(x[0], x[1]), pack<T>(x[2], x[3]), pack<T>(x[4], x[5]),
                       pack<T>(x[6], x[7]));
    }
  }

  __device__ void store(const Work& work, const View<T, 3>& DK, const View<T, 3>& DV, f32 scale) const {
    const int first = work.first + row();
    const auto rows_of = [&](const View<T, 3>& of) {
      const View<T, 2> keys = work.keys_of(of);
      return View<T, 2>{keys.data + s64{first} * keys.stride[0], {keys.stride[0], 1}};
    };
    store_gradient(rows_of(DK), dk_, scale, work.keys - first, HD);
    store_gradient(rows_of(DV), dv_, 1, work.keys - first, HV);
  }

  Smem& smem_;
  const Hooks& hooks_;
  const f32 scale_;
  const QuerySums& sums_;
  const int consumer_, warp_row_;
  wgmma::Operand<T, 64, SIZE, Major::k> keys_;          // of this consumer
  wgmma::Operand<T, 64, VALUE_SIZE, Major::k> values_;  // likewise
  wgmma::Operand<T, 64, SIZE, Major::mn> all_keys_;     // of both
  RegisterTile<layout::Mma<16, SIZE>> dk_;
  RegisterTile<layout::Mma<16, VALUE_SIZE>> dv_;
  Part dq_;
  u32 count_ = 0;  // steps that have been published
};

// Where the order of sums is fixed: gives a consumer its turn to add what each step of the tiles gives, once those of
// the tiles before have been added, and tells the tiles after. What a step gives is added during the second step after
// it, so that there is a step's time between. Called by one thread for each consumer.
template <class Smem> class Turns {
 public:
  __device__ Turns(Smem& smem, const QuerySums& sums, int consumer) : smem_(smem), sums_(sums), consumer_(consumer) {}

  __device__ void take_tile() {
    smem_.stored[consumer_][count_ % 2].wait(count_ / 2 % 2);
    bool none = smem_.records[count_ % kStepRecords].none();
    while (!none) {
      const StepRecord& record = smem_.records[count_ % kStepRecords];
      u32* const rank = sums_.rank(record.number, consumer_);
      const int mine = record.rank;
      const bool last = record.last();
      global::await(rank, mine);
      smem_.turn[consumer_][count_ % 2].arrive();
      smem_.given[consumer_].wait(given_++ % 2);
      global::store_release(rank, mine + 1);
      if (last) break;
      ++count_;
    }
    if (none) smem_.turn[consumer_][count_ % 2].arrive();
    ++count_;
  }

 private:
  Smem& smem_;
  const QuerySums& sums_;
  const int consumer_;
  u32 count_ = 0, given_ = 0;  // steps, and those that give something
};

// Tells when tiles have been added to the sums, in their turn if the order is fixed. Called by a warp.
template <bool Ordered, class Smem> __device__ inline void add_tiles(Smem& smem, const QuerySums& sums) {
  const int lane = threadIdx.x % 32;
  Turns<Smem> turns(smem, sums, lane);
  u32 tiles = 0;
  for (ItemReader<Smem> items(smem); items.more(); items.next()) {
    if (!items.has(kTile)) continue;
    if (lane < 2) {
      if constexpr (Ordered)
        turns.take_tile();
      else
        smem.given[lane].wait(tiles % 2);
    }
    ++tiles;
    __syncwarp();
    if (lane == 0) global::add_release(sums.added(items->tile.kv_head), 2);
  }
}

// The kernel's body, once shared memory has been initialised. rows_of(piece)(head) are rows of DQ.
template <class Smem, class RowsOf>
__device__ inline void make_gradients(Smem& smem, const StepMaps& from, const RowsOf& rows_of, const View<T, 3>& DK,
                                      const View<T, 3>& DV, const QuerySums& sums, f32 scale, const Dims& dims,
                                      const Hooks& hooks) {
  const int thread = threadIdx.x - 2 * kWarpgroup, warp = thread / 32;
  if (thread >= 0) {
    give_registers<56>();
    if (warp == 0) {
      GradientProducer<kOrdered, Smem>(smem, from, hooks).load(dims, sums.counters);
    } else if (warp == 1) {
      add_tiles<kOrdered>(smem, sums);
    } else {
      for (ItemReader<Smem> items(smem); items.more(); items.next()) {
        const SumsPiece& piece = items->piece;
        if (!Smem::Work::kRagged && items.has(kTile) && items.has(kPiece))
          round_sums<kRounders, SIZE, kOrdered>(sums, piece, scale, HD, rows_of(piece), smem.rounded,
                                                thread - kWarpgroup + kRounders, 4);
      }
    }
    __syncwarp();
  } else {
    take_registers<224>();
    KeyGradients<Smem> gradients(smem, hooks, scale, sums);
    for (ItemReader<Smem> items(smem); items.more(); items.next()) {
      if (items.has(kTile)) {
        gradients.make(items->tile, items.index(), DK, DV);
      } else if (items.has(kPiece)) {
        const SumsPiece& piece = items->piece;
        using Copies = RoundedSums<2 * kWarpgroup>;
        static_assert(sizeof(Copies) <= sizeof(smem.gradients));
        sync(5, 2 * kWarpgroup);  // after which no consumer reads gradients of scores
        round_sums<2 * kWarpgroup, SIZE, kOrdered>(sums, piece, scale, HD, rows_of(piece),
                                                   reinterpret_cast<Copies&>(smem.gradients), threadIdx.x, 3);
      }
    }
    __syncwarp();
  }
}

#endif
