#pragma once
// A consumer of attention's backward pass by wgmma for tiles of 96 keys of heads of 192 elements, whose values have at
// most 128: the more keys a tile has, the fewer queries are read, and the fewer sums of DQ added, for each product. T,
// HD, HV, SIZE, VALUE_SIZE, TILE, STAGES and RESULTS are the template's.
#include "device/pipeline/gradient_consumer.cuh"

#ifndef TMA_JIT_REFERENCE

// Each consumer makes the weights and the gradients of the scores of some of the tile's keys, a row for each query, and
// publishes them in shared memory, a row for each key. Then it multiplies those of all keys for its panels of 64
// columns of DV and DK, which are transposed, as wgmma has 64 rows but any number of columns, and of the step's DQ. The
// products of the next step's scores are started before these, so that the tensor cores have work while weights are
// computed from them. The consumer with more sums of DK and DV has fewer keys of the scores.
template <class Smem, int Index> class ColumnGradients : GradientConsumer<Smem, Index> {
  using Base = GradientConsumer<Smem, Index>;
  using Base::consumer_;
  using Base::count_;
  using Base::hooks_;
  using Base::scale_;
  using Base::smem_;
  using Base::warp_row;

  // The numbers of keys for which the registers of both consumers suffice.
  static constexpr int kFewer = CAUSAL || Smem::Work::kRagged ? 24 : 32, kFirstKey = Index == 0 ? 0 : kFewer,
                       kKeys = Index == 0 ? kFewer : TILE - kFewer;
  static_assert(TILE != 96 || !kScoreGiven, "no registers are left for the derivative of a score");
  using Scores = RegisterTile<layout::Mma<16, kKeys>>;
  using Sums = RegisterTile<layout::Mma<16, TILE>>;  // of a panel

 public:
  using typename Base::Work;

  __device__ ColumnGradients(Smem& smem, const Hooks& hooks, f32 scale, const QuerySums& sums)
      : Base(smem, hooks, scale, sums) {}

  // Makes the gradients of the keys of the tile that is the block's index-th.
  __device__ void make(const Work& work, u32 index, const View<T, 3>& DK, const View<T, 3>& DV) {
#pragma unroll
    for (Sums& of : dk_) of.fill(0);
#pragma unroll
    for (Sums& of : dv_) of.fill(0);
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
    if constexpr (!kOrdered) this->tell_given();
    store(work, DK, DV);
  }

 private:
  // The panels of a product that this consumer has: of three, the consumer Greater has two.
  template <int Panels, int Greater> struct Share {
    static constexpr int kOfFirst = Greater == 0 ? (Panels + 1) / 2 : Panels / 2;
    static constexpr int kFirst = Index == 0 ? 0 : kOfFirst, kCount = Index == 0 ? kOfFirst : Panels - kOfFirst;
  };
  using OfKeys = Share<SIZE / 64, 0>;
  using OfValues = Share<VALUE_SIZE / 64, 1>;
  using OfQueries = Share<SIZE / 64, 1>;
  static constexpr int kParts = OfQueries::kCount;  // in which DQ is made, one after the other

  __device__ bool first_step(const Work& work) {
    Scores s, ds;
    start_scores(s);
    wgmma::wait<0>();
    weigh(s, work);
    start_weight_gradients(ds);
    return publish_scores<0>(s, ds, work);
  }
  // Makes what follows from the step that was published last, and publishes the next. Returns whether another one
  // follows.
  __device__ bool step(const Work& work) {
    this->await_step(work);
    Scores s, ds;
    start_scores(s);
    this->await_other();
    start_gradients();
    wgmma::wait<3>();
    weigh(s, work);
    start_weight_gradients(ds);
    wgmma::wait<2>();
    release();
    wgmma::wait<1>();
    give(1, 0);
    if constexpr (kParts > 1) multiply_queries<1>();
    const bool more = publish_scores<kParts - 1>(s, ds, work);
    if constexpr (kParts > 1) {
      wgmma::wait<0>();
      give(2, 1);
    }
    tell_passed(2);
    return more;
  }
  // Makes what follows from the last step, and ends the tile.
  __device__ void finish() {
    this->await_other();
    start_gradients();
    wgmma::wait<1>();
    release();
    wgmma::wait<0>();
    give(1, 0);
    if constexpr (kParts > 1) {
      multiply_queries<1>();
      wgmma::wait<0>();
      give(1, 1);
    }
    smem_.own.release_warpgroup(0);
    tell_passed(1);
  }

  // Starts the products of the current step's scores.
  __device__ void start_scores(Scores& s) {
    const auto keys = wgmma::Operand<T, TILE, SIZE, Major::k>::anew(smem_.keys[0], kFirstKey);
    wgmma::multiply<HD>(s, wgmma::operand<Major::k>(smem_.queries[count_ % STAGES]), keys, false);
  }
  // Starts those of the gradients of its weights.
  __device__ void start_weight_gradients(Scores& ds) {
    const u32 slot = this->await_results();
    const auto values = wgmma::Operand<T, TILE, VALUE_SIZE, Major::k>::anew(smem_.values[0], kFirstKey);
    wgmma::multiply<HV>(ds, wgmma::operand<Major::k>(smem_.result_gradients[slot]), values, false);
  }
  // Makes the gradients of the current step's scores from those of its weights, after the products for which as many
  // groups as Later have been started, and publishes both. Returns whether another step follows.
  template <int Later> __device__ bool publish_scores(Scores& s, Scores& ds, const Work& work) {
    const StepRecord& record = this->record();
    wgmma::wait<Later>();
    ds.map_rows(rows_of(smem_.minus_delta[count_ % RESULTS]), [](f32 x, f32 d) { return x + d; });
    ds.multiply(s);
    smem_.passed[1 - consumer_][count_ % 2].wait(count_ / 2 % 2 ^ 1);  // the other reads nothing of two steps ago
    auto& to = smem_.gradients[count_ % 2];
    put(to[0], s, kFirstKey, 1);
    put(to[1], ds, kFirstKey, 1);
    fence::proxy_async_shared();
    sync(1 + consumer_, kWarpgroup);
    const bool more = !(uniform(record.flags) & StepRecord::kLast);
    this->publish_step();
    return more;
  }

  // Converts the current step's scores to weights.
  __device__ void weigh(Scores& s, const Work& work) const {
    const StepRecord& record = this->record();
    f32 scale = scale_;
    asm volatile("" : "+f"(scale));  // the product is not kept in a register
    s.map_rows(rows_of(smem_.log_sum[count_ % STAGES]), [=](f32 x, f32 l) { return ex2(fmaf(x, scale * kLog2e, l)); });
    if (uniform(record.flags) & StepRecord::kWhole) return;
    const int query = record.query + warp_row(), key = work.first + kFirstKey;
    if constexpr (kMaskGiven) {
      const auto seen = SeenRegisters<typename Scores::Layout>::template where<2>([&](int r, int c) {
        const bool given = hooks_.mask(work.position(query + r), key + c, record.head) != 0;
        return work.sees(query + r, key + c) && given;
      });
      seen.clear_others(s);
    } else {
      const int last = work.keys - 1 - key, own = work.position(query) - key;
      hide_after(s, last, CAUSAL ? own : last);
    }
  }
  // Clears the keys after key `last`, and after key `diagonal` + r of each row r.
  __device__ static void hide_after(Scores& s, int last, int diagonal) {
    using Layout = typename Scores::Layout;
    int across[Layout::kRowSlots];  // the last column of each row that is seen, counted from the lane's first
#pragma unroll
    for (int slot = 0; slot < Layout::kRowSlots; ++slot)
      across[slot] = min(last, diagonal + Layout::row(slot)) - Layout::column(0);
#pragma unroll
    for (int i = 0; i < Layout::kRegisters; ++i)
      if (Layout::across(i) > across[Layout::slot(i)]) s.x[i] = 0;
  }
  // Returns the numbers of the queries of this lane's rows.
  __device__ typename Scores::Vector rows_of(const f32 (&numbers)[STEP]) const {
    typename Scores::Vector rows;
#pragma unroll
    for (int slot = 0; slot < Scores::Layout::kRowSlots; ++slot)
      rows.x[slot] = numbers[warp_row() + lane_anew() / 4 + slot * 8];
    return rows;
  }

  // Starts what follows from the step that was published last, as three groups.
  __device__ void start_gradients() {
    const u32 step = count_ - 1;
    const auto& of = smem_.gradients[step % 2];
    add_panels<OfValues::kFirst>(dv_, wgmma::operand<Major::mn>(smem_.result_gradients[step % RESULTS]), of[0]);
    add_panels<OfKeys::kFirst>(dk_, wgmma::operand<Major::mn>(smem_.queries[step % STAGES]), of[1]);
    multiply_queries<0>();
  }
  // Starts a part of its DQ.
  template <int Part> __device__ void multiply_queries() {
    const auto rows = wgmma::operand<Major::mn>(smem_.gradients[(count_ - 1) % 2][1]);
    const auto columns = wgmma::Operand<T, TILE, SIZE, Major::mn>::anew(smem_.keys[0]);
    wgmma::fence();
#pragma unroll
    for (int k = 0; k < TILE; k += 16)
      wgmma::Mma<64, T>::template ss<wgmma::Mode<Major::mn, Major::mn>>(dq_.x, rows.at(k),
                                                                        columns.at(k, OfQueries::kFirst + Part), k > 0);
    wgmma::commit();
  }
  // Starts, as one group, the products of the columns of a step's rows from panel First on and what the keys have of
  // each row.
  template <int First, int Panels, class Rows>
  __device__ static void add_panels(Sums (&sums)[Panels], const Rows& rows, const SharedTile<T, TILE, STEP>& of_keys) {
    const auto keys = wgmma::operand<Major::k>(of_keys);
    wgmma::fence();
#pragma unroll
    for (int p = 0; p < Panels; ++p)
#pragma unroll
      for (int k = 0; k < STEP; k += 16)
        wgmma::Mma<TILE, T>::template ss<wgmma::Mode<Major::mn, Major::k>>(sums[p].x, rows.at(k, First + p), keys.at(k),
                                                                           true);
    wgmma::commit();
  }

  // Releases the queries of the step that was published last, and the gradients of their results.
  __device__ void release() {
    smem_.results.release_warpgroup((count_ - 1) % RESULTS);
    smem_.steps.release_warpgroup((count_ - 1) % STAGES);
  }
  // Tells the other consumer that all products of the step have been made that was published `ago` steps ago.
  __device__ void tell_passed(u32 ago) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.passed[consumer_][(count_ - ago) % 2].arrive();
  }
  // Adds a part of its DQ.
  __device__ void give(u32 ago, int part) {
    this->give_some(dq_, ago, OfQueries::kFirst + part, part == 0, part == kParts - 1);
  }

  // Rounds and stores the transpose of the warp's rows, from row `first` on.
  template <int Columns>
  __device__ void put(SharedTile<T, TILE, 64>& to, const RegisterTile<layout::Mma<16, Columns>>& from, int first,
                      f32 scale) const {
    const int lane = lane_anew();
    const u32 at = to.row_address(first + lane / 16 * 8 + lane % 8, (warp_row() + lane / 8 % 2 * 8) * sizeof(T), 0);
    const auto word = [&](int i) { return pack<T>(from.x[i] * scale, from.x[i + 1] * scale); };
#pragma unroll
    for (int j = 0; j < Columns; j += 16) {
      const u32 row = at + j * to.kRowBytes;
      if (j + 16 <= Columns)
        mma::stmatrix_x4_trans(row, word(j / 2), word(j / 2 + 2), word(j / 2 + 4), word(j / 2 + 6));
      else
        mma::stmatrix_x2_trans(row, word(j / 2), word(j / 2 + 2));
    }
  }
  // Stores the gradients of the tile's keys by way of what scores had in shared memory. Each consumer has one of the
  // two steps there, whose products both have made.
  __device__ void store(const Work& work, const View<T, 3>& DK, const View<T, 3>& DV) const {
    sync(5, 2 * kWarpgroup);
    store_panels<OfKeys::kFirst>(work, DK, dk_, scale_, HD);
    store_panels<OfValues::kFirst>(work, DV, dv_, 1, HV);
    sync(5, 2 * kWarpgroup);
  }
  template <int First, int Panels>
  __device__ void store_panels(const Work& work, const View<T, 3>& to, const Sums (&sums)[Panels], f32 scale,
                               int columns) const {
    const View<T, 2> keys = work.keys_of(to);
    const int thread = threadIdx.x % kWarpgroup;
#pragma unroll
    for (int p = 0; p < Panels; ++p) {
      auto& panel = smem_.gradients[consumer_][0];
      sync(1 + consumer_, kWarpgroup);
      put(panel, sums[p], 0, scale);
      sync(1 + consumer_, kWarpgroup);
      const int column = thread % 8 * 8;
#pragma unroll
      for (int row = thread / 8; row < TILE; row += kWarpgroup / 8)
        if (work.first + row < work.keys && (First + p) * 64 + column < columns)
          *reinterpret_cast<uint4*>(keys.data + s64{work.first + row} * keys.stride[0] + (First + p) * 64 + column) =
              panel.template at<uint4>(row, column);
    }
  }

  Sums dk_[OfKeys::kCount], dv_[OfValues::kCount];  // of panels of columns, which are rows here
  RegisterTile<layout::Mma<16, 64>> dq_;
};

#endif
