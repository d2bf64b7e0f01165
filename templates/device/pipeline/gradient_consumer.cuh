#pragma once
// What the consumer warpgroups of attention's backward pass by wgmma share: how they come to know of steps, and what
// becomes of scores, all transposed but those of tiles of 96 keys: a row for each key, a column for each query. T, HD,
// HV, WIDE, BOX, SIZE, STEP, STAGES, RESULTS and CAUSAL are the template's.
#include "device/pipeline/gradient_block.cuh"
#include "device/pipeline/staged_shares.cuh"
#include "device/ptx/lane.cuh"
#include "device/ptx/stmatrix.cuh"
#include "device/tile/key_words.cuh"
#include "device/tile/query_sums.cuh"
#include "device/tile/register_tile.cuh"
#include "device/tile/store_gradient.cuh"
#include "device/tile/wgmma_operand.cuh"
#include "device/tile/wgmma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

using wgmma::Major;

// Index is which of the two it is, where each has a class of its own.
template <class Smem, int Index = -1> class GradientConsumer {
 public:
  using Work = typename Smem::Work;

 protected:
  using Scores = RegisterTile<layout::Mma<16, WIDE ? STEP / 2 : STEP>>;
  using Part = RegisterTile<layout::Mma<16, 64>>;  // 64 columns of a tile

  __device__ GradientConsumer(Smem& smem, const Hooks& hooks, f32 scale, const QuerySums& sums)
      : smem_(smem),
        hooks_(hooks),
        scale_(scale),
        sums_(sums),
        consumer_(Index < 0 ? uniform(int(threadIdx.x / kWarpgroup)) : Index) {}

  // Returns the warp's first row of the warpgroup's rows.
  __device__ static int warp_row() { return thread_anew() % kWarpgroup / 32 * 16; }
  // Returns the warp's first row of the tile, and the first query of the step whose scores it has.
  __device__ int row() const { return (WIDE ? 0 : consumer_ * 64) + warp_row(); }
  __device__ int column() const { return WIDE ? consumer_ * (STEP / 2) : 0; }
  // Returns the slot of the queries of the last step that was published.
  __device__ u32 slot() const { return (count_ - 1) % STAGES; }
  __device__ const StepRecord& record() const { return smem_.records[count_ % kStepRecords]; }

  // Wait for the keys and values of the block's index-th tile, and for the current step's queries.
  __device__ void await_tile(const Work& work, u32 index) {
    smem_.own.full[0].wait(index % 2);
    if constexpr (Work::kRagged) clear_keys(work);
  }
  __device__ void await_step(const Work& work) {
    smem_.steps.full[count_ % STAGES].wait(count_ / STAGES % 2);
    if constexpr (Work::kRagged) clear_queries(work);
  }
  // Waits for the gradients of the current step's results and returns their slot.
  __device__ u32 await_results() const {
    smem_.results.full[count_ % RESULTS].wait(count_ / RESULTS % 2);
    return count_ % RESULTS;
  }
  // Ends the current step for the other consumer and for the order of sums.
  __device__ void publish_step() {
    if (threadIdx.x % kWarpgroup == 0) smem_.published[consumer_][count_ % 2].arrive();
    ++count_;
  }
  // Waits until the other consumer has published the step before the current one.
  __device__ void await_other() {
    const u32 step = count_ - 1;
    smem_.published[1 - consumer_][step % 2].wait(step / 2 % 2);
  }
  // Releases all that a tile without steps has taken.
  __device__ void pass_tile() {
    if constexpr (kStaged) smem_.between.staged.put_none(count_);
    sync(1 + consumer_, kWarpgroup);
    smem_.results.release_warpgroup(count_ % RESULTS);
    publish_step();
    smem_.steps.release_warpgroup(slot());
    smem_.own.release_warpgroup(0);
    if constexpr (kTurns) {
      await_turn(count_ - 1);
      tell_given(count_ - 1);
    }
  }

  // Adds what the step gives that was published `ago` steps ago, in a fixed order in its turn, or leaves it to be
  // added.
  __device__ void give(const Part& x, u32 ago) {
    if constexpr (kStaged)
      smem_.between.staged.put(consumer_, count_ - ago, x);
    else
      give_some(x, ago, consumer_, true, true);
  }
  // Adds shares of it from the first-th on, as many as the tile's columns are, of which a consumer has some first and
  // some last.
  template <class Tile> __device__ void give_some(const Tile& x, u32 ago, int first, bool begins, bool ends) {
    const u32 step = count_ - ago;
    if (kOrdered && begins) await_turn(step);
#pragma unroll
    for (int i = 0; i < Tile::Layout::kColumns / 64; ++i) {
      const StepRecord& record = smem_.records[step % kStepRecords];
      add_share(sums_.of(record.number, first + i), x.template columns<64>(i * 64), kOrdered && record.rank == 0);
    }
    if (kOrdered && ends) tell_given(step);
  }
  __device__ void await_turn(u32 step) const {
    smem_.between.turn[consumer_][step % 2].wait(step / 2 % 2);
  }
  // Tells that it has been added: in a fixed order what a step gives, in any order all that a tile gives.
  __device__ void tell_given(u32 step = 0) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.between.given[consumer_][step % 2].arrive();
  }

  // Returns what a mask as bits says of the step's queries from column `first` on; nothing of another mask.
  template <class Tile>
  __device__ auto words_of(const Work& work, const StepRecord& record, bool whole, int first) const {
    if constexpr (kMaskOfBits<Hooks>) {
      KeyWords<Tile::Layout::kColumns> words;
      if (!whole) words.read(hooks_, work, record.query + first, work.first + row(), record.head);
      return words;
    } else {
      return NoWords();
    }
  }
  // Returns the same of all scores before they are there. With a score of yours, no registers are left for it.
  __device__ auto early_words(const Work& work, const StepRecord& record, bool whole) const {
    if constexpr (kScoreGiven)
      return NoWords();
    else
      return words_of<Scores>(work, record, whole, column());
  }
  // Returns which scores of the step's queries from column `first` on are seen.
  template <class Tile, class Words>
  __device__ auto seen_by(const Work& work, const StepRecord& record, int first, const Words& words) const {
    using Layout = typename Tile::Layout;
    using Seen = SeenRegisters<Layout>;
    constexpr int kAll = Layout::kColumns / 8, kTogether = WIDE ? 1 : Hooks::mask_reads ? 4 : kAll;
    constexpr int kOfBits = kScoreGiven ? 1 : kAll;  // for which registers are left
    const int query = record.query + first, key = work.first + row();
    if constexpr (kMaskOfBits<Hooks>) {
      if (words.together()) {
        Seen seen = Seen::template of_blocks<kOfBits>([&](int c) { return words.block(c / 8); });
        if (record.query + STEP > work.queries || !work.whole_from(record.query))
          seen.keep(Seen::template where<kOfBits>([&](int r, int c) { return work.sees(query + c, key + r); }));
        return seen;
      }
    }
    return Seen::template where<kTogether>([&](int r, int c) {
      const bool seen = hooks_.mask(work.position(query + c), key + r, record.head) != 0;
      return work.sees(query + c, key + r) && seen;
    });
  }
  // Converts the step's scores to weights.
  template <class Words>
  __device__ void weigh(Scores& s, const Work& work, const StepRecord& record, bool whole, const Words& words) const {
    s.map_columns(&smem_.log_sum[count_ % STAGES][column()],
                  [this](f32 x, f32 l) { return ex2(fmaf(x, scale_ * kLog2e, l)); });
    if (whole) return;
    if constexpr (kMaskGiven) {
      seen_by<Scores>(work, record, column(), words).clear_others(s);
    } else {
      const int keys = work.keys - work.first - row();
      const int first = CAUSAL ? work.first - work.shift + row() - record.query - column() : -STEP;
      s.map_at([=](f32 x, int r, int c) { return r < keys && c >= first + r ? x : 0; });
    }
  }
  // Converts the scores of the queries from the step's `first` on to weights, and the gradients of weights to those of
  // scaled products.
  template <class Tile>
  __device__ void apply_score(Tile& s, Tile& ds, const Work& work, const StepRecord& record, bool whole, int first,
                              const f32* exponents) const {
    struct Place {
      int index, position, key;
      f32 exponent;
    };
    const auto at = [&](int i) {
      const int column = first + Tile::Layout::column(i);
      return Place{i, work.position(record.query + column),
                   work.first + row() + Tile::Layout::row(Tile::Layout::slot(i)), exponents[column]};
    };
    const GradientHooks gradients = {hooks_, scale_};
    if (whole) {
      gradients.apply(s, ds, record.head, at, [](const Place&) { return false; });
    } else {
      const auto seen = seen_by<Tile>(work, record, first, words_of<Tile>(work, record, whole, first));
      gradients.apply(s, ds, record.head, at, [&](const Place& p) { return !seen.has(p.index); });
    }
  }
  // Rounds and stores the warp's rows of a panel, from a column on. Within a row places differ in one exclusive or.
  template <int Columns>
  __device__ void store_words(SharedTile<T, 64, 64>& to, const RegisterTile<layout::Mma<16, Columns>>& from,
                              int first = 0) const {
    const int lane = lane_anew();
    const u32 at = to.row_address(warp_row() + lane % 16, lane / 16 * 16, 0);
#pragma unroll
    for (int j = 0; j < Columns; j += 16) {
      const f32* const x = &from.x[j / 2];
      mma::stmatrix_x4(at ^ ((first + j) * 2), pack<T>(x[0], x[1]), pack<T>(x[2], x[3]), pack<T>(x[4], x[5]),
                       pack<T>(x[6], x[7]));
    }
  }

  // Stores a gradient of the warp's keys, from a column on.
  template <int Columns, class E>
  __device__ void store(const Work& work, const View<E, 3>& to, const RegisterTile<layout::Mma<16, Columns>>& x,
                        f32 scale, int columns, int column = 0) const {
    const int first = work.first + row();
    const View<E, 2> keys = work.keys_of(to);
    store_gradient(View<E, 2>{keys.data + s64{first} * keys.stride[0] + column, {keys.stride[0], 1}}, x, scale,
                   work.keys - first, columns - column);
  }

  Smem& smem_;
  const Hooks& hooks_;
  const f32 scale_;
  const QuerySums& sums_;
  const int consumer_;
  u32 count_ = 0;  // steps that have been published

 private:
  // Clears what follows the sequence's last key in the tile: the next sequence's, or none, which a weight of zero would
  // not hide where it is not finite.
  __device__ void clear_keys(const Work& work) {
    const int tile = WIDE ? 0 : consumer_;
    const int left = uniform(work.keys - work.first), rows = max(0, min(left - tile * BOX, BOX));
    if (left >= Work::kRows) return;
    if (!WIDE || consumer_ == 0) clear_rows<kWarpgroup>(smem_.keys[tile], rows, threadIdx.x % kWarpgroup);
    if (!WIDE || consumer_ == 1) clear_rows<kWarpgroup>(smem_.values[tile], rows, threadIdx.x % kWarpgroup);
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
};

#endif
