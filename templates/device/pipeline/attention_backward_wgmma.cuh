#pragma once
// A consumer of attention's backward pass by wgmma, which has 64 of a tile's 128 keys and values. T, HD, HV, SIZE,
// VALUE_SIZE, STEP and RESULTS are the template's.
#include "device/pipeline/gradient_consumer.cuh"

#ifndef TMA_JIT_REFERENCE

// Scores are transposed, so that weights are an operand of the product for DV as they are. The gradients of scores are
// in shared memory, for the products for DK and DQ. While a step's weights are computed, the tensor cores make what the
// step before left: its part of DK, and the part of DQ of the one before that, for which the gradients of both
// consumers are needed. Each consumer makes 64 x 64 elements of a step's DQ, from all keys.
template <class Smem> class KeyGradients : GradientConsumer<Smem> {
  using Base = GradientConsumer<Smem>;
  using Base::consumer_;
  using Base::count_;
  using Base::scale_;
  using Base::smem_;
  using typename Base::Part;
  using typename Base::Scores;

 public:
  using typename Base::Work;

  __device__ KeyGradients(Smem& smem, const Hooks& hooks, f32 scale, const QuerySums& sums)
      : Base(smem, hooks, scale, sums),
        keys_(wgmma::operand<Major::k>(smem.keys[consumer_])),
        values_(wgmma::operand<Major::k>(smem.values[consumer_])) {}

  // Makes the gradients of the consumer's 64 keys of the tile that is the block's index-th.
  template <class E> __device__ void make(const Work& work, u32 index, const View<E, 3>& DK, const View<E, 3>& DV) {
    dk_.fill(0);
    dv_.fill(0);
    this->await_tile(work, index);
    this->await_step(work);
    if (uniform(this->record().none())) {
      this->pass_tile();
      store(work, DK, DV, 1);
    } else {
      make_steps(work);
      store(work, DK, DV, scale_);
      wgmma::wait<0>();
      smem_.own.release_warpgroup(0);
      this->give(dq_, 1);
    }
    if constexpr (!kOrdered) this->tell_given();
  }

 private:
  static constexpr int kParts = STEP / 64;

  // Processes all steps and starts the last one's part of DQ.
  __device__ void make_steps(const Work& work) {
    Scores s;
    multiply_scores(s);
    bool more = finish_step<0>(work, s);
    if (more) {
      more = step<1>(work);
#pragma unroll 1
      while (more) more = step<2>(work);
      multiply_keys();
      multiply_query(count_ + 1);
      wgmma::wait<0>();
      this->give(dq_, 2);
    } else {
      multiply_keys();
      wgmma::wait<0>();
    }
    smem_.steps.release_warpgroup(this->slot());
    this->await_other();
    multiply_query(count_ + 2);
  }

  // Starts the products of the next step's scores, DK of the step before it and DQ of the one before that, if there are
  // as many as Before, and processes the step. Returns whether another one follows.
  template <int Before> __device__ bool step(const Work& work) {
    this->await_step(work);
    keys_.keep(), values_.keep();
    Scores s;
    if constexpr (Before > 1) multiply_query(count_ + 1);
    multiply_scores(s);
    multiply_keys();
    return finish_step<Before>(work, s);
  }

  // The rest of a step. Returns whether another one follows.
  template <int Before> __device__ bool finish_step(const Work& work, Scores& s) {
    const StepRecord& record = this->record();
    const int flags = uniform(record.flags);
    const auto words = this->early_words(work, record, flags & StepRecord::kWhole);
    wgmma::wait<Before == 0 ? 0 : 1>();
    if constexpr (Before > 1) this->give(dq_, 2);
    if constexpr (!kScoreGiven) this->weigh(s, work, record, flags & StepRecord::kWhole, words);
    if constexpr (Before > 0) {
      wgmma::wait<0>();
      smem_.steps.release_warpgroup(this->slot());
      this->await_other();
    }
    const u32 slot = this->await_results();
    wgmma::Words<T, 64> weights[kParts];
#pragma unroll
    for (int p = 0; p < kParts; ++p) finish_part(s, weights[p], work, record, flags & StepRecord::kWhole, slot, p);
    fence::proxy_async_shared();
    sync(1 + consumer_, kWarpgroup);  // after which the warps read nothing of the slots but by wgmma
    this->publish_step();
    wgmma::wait<0>();
    smem_.results.release_warpgroup(slot);
    return !(flags & StepRecord::kLast);
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
      this->apply_score(part, ds, work, record, whole, p * 64, smem_.log_sum[count_ % STAGES]);
      weights.round(part);
    }
    wgmma::multiply(dv_, weights, wgmma::operand<Major::mn>(gradients, p * 64));
    if constexpr (!kScoreGiven) {
      wgmma::wait<1>();
      ds.map_columns(&smem_.minus_delta[slot][p * 64], [](f32 x, f32 d) { return x + d; });
      ds.multiply(part);
    }
    this->store_words(smem_.gradients[count_ % 3][consumer_].part(p), ds);
  }

  __device__ void multiply_scores(Scores& s) {
    wgmma::multiply<SIZE>(s, keys_, wgmma::operand<Major::k>(smem_.queries[count_ % STAGES]), false);
  }
  // Starts DK's products of the step that was published last.
  __device__ void multiply_keys() {
    wgmma::multiply<STEP>(dk_, wgmma::operand<Major::k>(smem_.gradients[(count_ + 2) % 3][consumer_]),
                          wgmma::operand<Major::mn>(smem_.queries[this->slot()]), true);
  }
  // Starts this consumer's part of the gradients of the queries of a step, counted modulo 3.
  __device__ void multiply_query(u32 step) {
    const int rows = SIZE == 64 ? consumer_ : 0, columns = SIZE == 64 ? 0 : consumer_;
    constexpr int kKeys = sizeof(smem_.keys[0]) / 128;  // rows of 128 bytes from one consumer's to the other's
    constexpr int kGradients = sizeof(smem_.gradients[0][0]) / 128;
    const auto gradients = wgmma::operand<Major::mn>(smem_.gradients[step % 3][0]);
    const auto keys = wgmma::Operand<T, 64, SIZE, Major::mn>::anew(smem_.keys[0]);
    wgmma::fence();
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int k = 0; k < 64; k += 16)
        wgmma::Mma<64, T>::template ss<wgmma::Mode<Major::mn, Major::mn>>(dq_.x, gradients.at(i * kGradients + k, rows),
                                                                          keys.at(i * kKeys + k, columns), i + k > 0);
    wgmma::commit();
  }
  template <class E>
  __device__ void store(const Work& work, const View<E, 3>& DK, const View<E, 3>& DV, f32 scale) const {
    Base::store(work, DK, dk_, scale, HD);
    Base::store(work, DV, dv_, 1, HV);
  }

  wgmma::Operand<T, 64, SIZE, Major::k> keys_;          // of this consumer
  wgmma::Operand<T, 64, VALUE_SIZE, Major::k> values_;  // likewise
  RegisterTile<layout::Mma<16, SIZE>> dk_;
  RegisterTile<layout::Mma<16, VALUE_SIZE>> dv_;
  Part dq_;
};

#endif
