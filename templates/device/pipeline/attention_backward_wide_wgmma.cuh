#pragma once
// A consumer of attention's backward pass by wgmma for heads of more than 128 elements, of whose gradients a warpgroup
// has registers for 64 keys by half of the columns only. T, HD, HV, SIZE, VALUE_SIZE, STAGES and RESULTS are the
// template's.
#include "device/pipeline/attention_backward_wgmma.cuh"

#ifndef TMA_JIT_REFERENCE

// Both consumers have all 64 keys of a tile. Each makes the weights and the gradients of the scores of half of a step's
// 64 queries and publishes them in shared memory, and then multiplies those of all queries for its panels of 64 columns
// of DV, DK and the step's DQ. Behind these the products of the next step's scores are started, so that the tensor
// cores have work until its weights are computed. A panel more has the consumer that has one less of another product.
template <class Smem, int Index> class WideKeyGradients : GradientConsumer<Smem, Index> {
  using Base = GradientConsumer<Smem, Index>;
  using Base::consumer_;
  using Base::count_;
  using Base::scale_;
  using Base::smem_;
  using typename Base::Scores;

 public:
  using typename Base::Work;

  __device__ WideKeyGradients(Smem& smem, const Hooks& hooks, f32 scale, const QuerySums& sums)
      : Base(smem, hooks, scale, sums),
        keys_(wgmma::operand<Major::k>(smem.keys[0])),
        values_(wgmma::operand<Major::k>(smem.values[0])),
        columns_(wgmma::operand<Major::mn>(smem.keys[0])) {}

  // Makes the gradients of the keys of the tile that is the block's index-th.
  template <class E> __device__ void make(const Work& work, u32 index, const View<E, 3>& DK, const View<E, 3>& DV) {
    dk_.fill(0);
    dv_.fill(0);
    this->await_tile(work, index);
    this->await_step(work);
    if (uniform(this->record().none())) {
      this->pass_tile();
      tell_passed(1);
    } else {
      bool more = first_step(work);
#pragma unroll 1
      while (more) more = step(work);
      finish();
    }
    store(work, DK, DV);
    if constexpr (!kOrdered) this->tell_given();
  }

 private:
  static constexpr int kPanels = SIZE / 64, kValuePanels = VALUE_SIZE / 64;
  // The first panel of each product and how many: of an odd number the consumer Greater has one more.
  template <int Panels, int Greater> struct Share {
    static constexpr int kFirstCount = Greater == 0 ? (Panels + 1) / 2 : Panels / 2;
    static constexpr int kFirst = Index == 0 ? 0 : kFirstCount;
    static constexpr int kCount = Index == 0 ? kFirstCount : Panels - kFirstCount;
  };
  using OfKeys = Share<kPanels, 0>;
  using OfValues = Share<kValuePanels, 1>;
  using OfQueries = Share<kPanels, 1>;
  // DQ is made in so many parts, one after the other, as registers are left for.
  static constexpr int kParts = OfKeys::kCount + OfValues::kCount + OfQueries::kCount > 4 ? OfQueries::kCount : 1;
  static constexpr int kPart = OfQueries::kCount / kParts * 64;

  __device__ bool first_step(const Work& work) {
    Scores s, ds;
    start_scores(s, ds);
    return publish_scores<0>(s, ds, work);
  }
  // Makes what follows from the step that was published last, and publishes the next. Returns whether another one
  // follows. The queries of a step are released before the products for the next step's scores have been made, so that
  // two slots are enough to load during all of the other products.
  __device__ bool step(const Work& work) {
    this->await_other();
    keys_.keep(), values_.keep(), columns_.keep();
    start_gradients(1);
    this->await_step(work);
    Scores s, ds;
    start_scores(s, ds);
    wgmma::wait<3>();
    release(1);
    if constexpr (kParts > 1) {
      wgmma::wait<2>();
      give(1, 0);
      multiply_queries<1>(1);
    }
    const bool more = publish_scores<kParts - 1>(s, ds, work);
    wgmma::wait<0>();
    tell_passed(2);
    give(2, kParts - 1);
    return more;
  }
  // Makes what follows from the last step, and ends the tile.
  __device__ void finish() {
    this->await_other();
    start_gradients(1);
    wgmma::wait<1>();
    release(1);
    wgmma::wait<0>();
    if constexpr (kParts > 1) {
      give(1, 0);
      multiply_queries<1>(1);
      wgmma::wait<0>();
    }
    smem_.own.release_warpgroup(0);
    tell_passed(1);
    give(1, kParts - 1);
  }

  // Starts the products of the current step's scores, and of the gradients of its weights, for half of its queries.
  __device__ void start_scores(Scores& s, Scores& ds) {
    const u32 slot = this->await_results();
    wgmma::multiply<HD>(s, keys_, wgmma::operand<Major::k>(smem_.queries[count_ % STAGES], this->column()), false);
    wgmma::multiply<HV>(ds, values_, wgmma::operand<Major::k>(smem_.result_gradients[slot], this->column()), false);
  }
  // Makes weights and gradients of scores of the current step, and publishes them. After the products for them as many
  // groups as Later have been started. Returns whether another step follows.
  template <int Later> __device__ bool publish_scores(Scores& s, Scores& ds, const Work& work) {
    const StepRecord& record = this->record();
    const bool whole = uniform(record.flags) & StepRecord::kWhole;
    const auto words = this->early_words(work, record, whole);
    wgmma::wait<Later + 1>();
    if constexpr (!kScoreGiven) this->weigh(s, work, record, whole, words);
    wgmma::wait<Later>();
    ds.map_columns(&smem_.minus_delta[count_ % RESULTS][this->column()], [](f32 x, f32 d) { return x + d; });
    if constexpr (kScoreGiven)
      this->apply_score(s, ds, work, record, whole, this->column(), smem_.log_sum[count_ % STAGES]);
    else
      ds.multiply(s);
    smem_.passed[1 - consumer_][count_ % 2].wait(count_ / 2 % 2 ^ 1);  // the other reads nothing of two steps ago
    auto& to = smem_.gradients[count_ % 2];
    this->store_words(to[0].part(0), s, this->column());
    this->store_words(to[1].part(0), ds, this->column());
    fence::proxy_async_shared();
    sync(1 + consumer_, kWarpgroup);
    this->publish_step();
    return !(uniform(record.flags) & StepRecord::kLast);
  }

  // Starts what follows from the step that was published `ago` steps ago: three groups, of which the last makes the
  // first part of DQ.
  __device__ void start_gradients(u32 ago) {
    const u32 step = count_ - ago;
    const auto& of = smem_.gradients[step % 2];
    multiply_panels<OfValues::kFirst>(dv_, wgmma::operand<Major::k>(of[0]),
                                      wgmma::operand<Major::mn>(smem_.result_gradients[step % RESULTS]), true);
    multiply_panels<OfKeys::kFirst>(dk_, wgmma::operand<Major::k>(of[1]),
                                    wgmma::operand<Major::mn>(smem_.queries[step % STAGES]), true);
    multiply_queries<0>(ago);
  }
  template <int Part> __device__ void multiply_queries(u32 ago) {
    multiply_panels<OfQueries::kFirst + Part>(dq_, wgmma::operand<Major::mn>(smem_.gradients[(count_ - ago) % 2][1]),
                                              columns_, false);
  }
  // Starts d (+)= a * b for the columns of b from panel First on, as one group.
  template <int First, class A, class B, int N>
  __device__ static void multiply_panels(RegisterTile<layout::Mma<16, N>>& d, A a, B b, bool accumulate) {
    a.keep(), b.keep();
    wgmma::fence();
#pragma unroll
    for (int k = 0; k < 64; k += 16)
      wgmma::Mma<N, T>::template ss<wgmma::Mode<A::kOrder, Major::mn>>(d.x, a.at(k), b.at(k, First),
                                                                       accumulate || k > 0);
    wgmma::commit();
  }

  // Releases the queries of a step and the gradients of their results.
  __device__ void release(u32 ago) {
    smem_.results.release_warpgroup((count_ - ago) % RESULTS);
    smem_.steps.release_warpgroup((count_ - ago) % STAGES);
  }
  // Adds a part of a step's DQ.
  __device__ void give(u32 ago, int part) {
    this->give_some(dq_, ago, OfQueries::kFirst + part, part == 0, part == kParts - 1);
  }
  // Tells the other consumer that a step's products have been made.
  __device__ void tell_passed(u32 ago) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.passed[consumer_][(count_ - ago) % 2].arrive();
  }
  template <class E> __device__ void store(const Work& work, const View<E, 3>& DK, const View<E, 3>& DV) const {
    Base::store(work, DK, dk_, scale_, HD, OfKeys::kFirst * 64);
    Base::store(work, DV, dv_, 1, HV, OfValues::kFirst * 64);
  }

  wgmma::Operand<T, 64, SIZE, Major::k> keys_;
  wgmma::Operand<T, 64, VALUE_SIZE, Major::k> values_;
  wgmma::Operand<T, 64, SIZE, Major::mn> columns_;  // of the keys
  RegisterTile<layout::Mma<16, OfKeys::kCount * 64>> dk_;
  RegisterTile<layout::Mma<16, OfValues::kCount * 64>> dv_;
  RegisterTile<layout::Mma<16, kPart>> dq_;
};

#endif
