#pragma once
// The roles of attention's backward pass by tcgen05. While a step's scores become weights, the tensor core makes what
// the step before gives to DQ and DK, and the gradients of this step's weights; while those become gradients of scores,
// what it gives to DV, and the next step's scores. T, WIDE, TILE, HD, HV, SIZE, VALUE_SIZE, STEP, STAGES, RESULTS,
// CAUSAL and Hooks are the template's.
#include "device/pipeline/gradient_block_tcgen05.cuh"
#include "device/ptx/acquire.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/tile/query_sums.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/rounded_sums.cuh"
#include "device/tile/store_gradient.cuh"

#ifndef TMA_JIT_REFERENCE

// Issues the products. Called by one thread. The products of one thread are executed in the order in which they are
// issued: what is overwritten has been read by all products before.
template <class Smem> class GradientMultiplier {
  static constexpr bool kRagged = Smem::Work::kRagged;

 public:
  __device__ explicit GradientMultiplier(Smem& smem) : smem_(smem) {}

  // Makes what the block's index-th tile gives. Loop invariant: of the present step the scores, the gradients of
  // weights and its part of DV have been issued; the slot of its queries is in use.
  __device__ void make(u32 index) {
    (kRagged ? smem_.own_cleared : smem_.own.full[0]).wait(index % 2);
    await_queries(count_);
    if (smem_.record(count_).none()) return pass();
    multiply_scores(count_);
    multiply_slopes();
    smem_.stored.wait(tiles_ % 2 ^ 1);
    multiply_values(false);
    for (bool begun = false;; begun = true) {
      const bool last = smem_.record(count_).last();
      if (!last) {
        await_queries(count_ + 1);
        multiply_scores(count_ + 1);
      }
      smem_.derived.wait(parity());
      if constexpr (kApart) await_taken();
      tcgen05::fence_after();
      tcgen05::multiply_majors<1, true, true>(smem_.address + Places::query_sums, smem_.gradients[0], smem_.keys[0],
                                              false);
      tcgen05::commit(smem_.summed);
      smem_.summed.arrive();  // with what this thread knows of the step's record
      multiply_keys(begun);
      tcgen05::commit(smem_.steps.empty[count_ % STAGES]);
      ++count_;
      if (last) break;
      multiply_slopes();
      multiply_values(true);
    }
    tcgen05::commit(smem_.own.empty[0]);
    tcgen05::commit(smem_.made);  // the last, so that none is in flight when tensor memory is freed
    ++tiles_;
  }

 private:
  __device__ void await_queries(u32 step) {
    (kRagged ? smem_.queries_cleared[step % STAGES] : smem_.steps.full[step % STAGES]).wait(step / STAGES % 2);
  }
  // Waits for the gradients of the present step's results and returns their slot.
  __device__ u32 await_results() {
    const u32 slot = count_ % RESULTS;
    (kRagged ? smem_.results_cleared[slot] : smem_.results.full[slot]).wait(count_ / RESULTS % 2);
    return slot;
  }
  // Releases all that a tile without steps has taken.
  __device__ void pass() {
    smem_.results.empty[await_results()].arrive();
    smem_.steps.empty[count_ % STAGES].arrive();
    smem_.own.empty[0].arrive();
    await_taken();
    smem_.summed.arrive(2);
    ++count_, ++none_;
  }
  // Waits until what the step before the present one gives to DQ has been read.
  __device__ void await_taken() { smem_.taken.wait(count_ % 2 ^ 1); }
  // Returns the parity of the present step's barriers but `summed` and `taken`, which count the steps of tiles that
  // have none, too.
  __device__ u32 parity() const { return (count_ - none_) % 2; }
  // The scores' place is free: the weights before them have been handed over, and multiplied.
  __device__ void multiply_scores(u32 step) {
    tcgen05::fence_after();
    tcgen05::multiply<1>(smem_.address + Places::scores, smem_.keys[0], smem_.queries[step % STAGES], false);
    tcgen05::commit(smem_.scored);
  }
  __device__ void multiply_slopes() {
    const u32 slot = await_results();
    if constexpr (!kApart) await_taken();
    tcgen05::fence_after();
    tcgen05::multiply<1>(smem_.address + Places::slopes, smem_.values[0], smem_.result_gradients[slot], false);
    tcgen05::commit(smem_.sloped);
  }
  __device__ void multiply_values(bool accumulate) {
    const u32 slot = count_ % RESULTS;
    smem_.weighed.wait(parity());
    tcgen05::fence_after();
    const u32 to = smem_.address + Places::value_sums;
    const auto& results = smem_.result_gradients[slot];
    if constexpr (WIDE)
      tcgen05::multiply_majors<1, false, true>(to, smem_.gradients[1], results, accumulate);
    else
      tcgen05::multiply_rows<1, STEP / 2>(to, smem_.address + Places::scores, results, accumulate);
    tcgen05::commit(smem_.results.empty[slot]);
  }
  __device__ void multiply_keys(bool accumulate) {
    const auto& queries = smem_.queries[count_ % STAGES];
    const u32 to = smem_.address + Places::key_sums;
    if constexpr (kRoomy)
      tcgen05::multiply_rows<1, STEP / 2>(to, smem_.address + Places::slopes, queries, accumulate);
    else
      tcgen05::multiply_majors<1, false, true>(to, smem_.gradients[0], queries, accumulate);
  }

  Smem& smem_;
  u32 count_ = 0, none_ = 0, tiles_ = 0;  // steps, those of tiles that have none, and tiles that have any
};

// Makes weights of scores, and the gradients of scores, of half of a step's queries. Called by each of two warpgroups.
template <class Smem> class GradientWeigher {
 public:
  using Work = typename Smem::Work;

  __device__ GradientWeigher(Smem& smem, const Hooks& hooks, f32 scale)
      : smem_(smem),
        hooks_(hooks),
        scale_(scale),
        half_(uniform(threadIdx.x / kWarpgroup)),
        warp_(uniform(threadIdx.x % kWarpgroup / 32)) {}

  // Of the tile that is the block's next; stores the gradients of its keys and values.
  __device__ void make(const Work& work, const View<T, 3>& DK, const View<T, 3>& DV) {
    bool any = true;
    while (step(work, any)) {
    }
    if (any) {
      smem_.made.wait(tiles_++ % 2);
      tcgen05::fence_after();
    }
    if (half_ == 0)
      store<SIZE>(work, DK, Places::key_sums, any, scale_, HD);
    else
      store<VALUE_SIZE>(work, DV, Places::value_sums, any, 1, HV);
    if (any) arrive_warp(smem_.stored);
  }

 private:
  static constexpr int kPart = 32;  // queries whose numbers are in registers beside the weights
  using Weights = RegisterTile<Places::Layout<STEP / 2>>;
  using Part = RegisterTile<Places::Layout<kPart>>;

  // Returns the address of what is in the warp's lanes at a place of tensor memory.
  __device__ u32 at(u32 place, int row = 0) const { return tensor_memory::at(smem_.address, warp_ * 32 + row, place); }
  // Returns the tile's first key of the warp.
  __device__ int row() const { return warp_ * kRowsOfWarp; }
  __device__ int first_column() const { return half_ * (STEP / 2); }

  // Starts storing weights or gradients of scores, rounded, in tensor memory.
  template <class Tile> __device__ void put(u32 place, int column, const Tile& x) const {
    tcgen05::store_rounded<T>(at(place + first_column() + column / 2), x);
  }
  // Returns whether another one follows; clears `any` if there is none at all.
  __device__ bool step(const Work& work, bool& any) {
    const u32 slot = count_ % STAGES, results = count_ % RESULTS, parity = (count_ - none_) % 2;
    smem_.steps.full[slot].wait(count_ / STAGES % 2);
    const StepRecord record = smem_.record(count_);
    const bool more = !record.last(), whole = record.whole();
    any = !record.none();
    Weights x;
    if (any) {
      smem_.scored.wait(parity);
      tcgen05::fence_after();
      tcgen05::load(x, at(Places::scores + first_column()));
      weigh(x, work, record, whole, slot);
      if constexpr (WIDE)
        fence::proxy_async_shared();
      else
        tensor_memory::wait_st();
      arrive_warp(smem_.weighed);
    }
    arrive_warp(smem_.steps.empty[slot]);
    smem_.results.full[results].wait(count_ / RESULTS % 2);
    if (any) {
      smem_.sloped.wait(parity);
      tcgen05::fence_after();
      derive(x, results);
      if constexpr (kRoomy) tensor_memory::wait_st();
      fence::proxy_async_shared();
      arrive_warp(smem_.derived);
    }
    arrive_warp(smem_.results.empty[results]);
    ++count_, none_ += !any;
    return more;
  }

  // Converts scores to weights, which are stored, times the derivatives of the scores, which remain.
  __device__ void weigh(Weights& x, const Work& work, const StepRecord& record, bool whole, u32 slot) const {
#pragma unroll
    for (int i = 0; i < Weights::Layout::kColumns; i += kPart) {
      const int first = first_column() + i;
      const f32* const exponents = &smem_.log_sum[slot][first];
      Part weights = x.template columns<kPart>(i), factors = weights;
      if constexpr (kScoreGiven) {
        factors.fill(1);
        apply_score(weights, factors, work, record, whole, first, exponents);
      } else {
        map_columns(weights, exponents, [this](f32 s, f32 e) { return ex2(fmaf(s, scale_ * kLog2e, e)); });
        if (!whole) hide(weights, work, record, first);
        factors = weights;
      }
      if constexpr (WIDE)
        ::store(smem_.gradients[1], row(), first, weights);
      else
        put(Places::scores, i, weights);
      x.put_columns(i, factors);
    }
  }
  __device__ void apply_score(Part& weights, Part& factors, const Work& work, const StepRecord& record, bool whole,
                              int first, const f32* exponents) const {
    struct Place {
      int query, position, key;
      f32 exponent;
    };
    const auto place = [&](int i) {
      const int column = Part::Layout::column(i), query = record.query + first + column;
      const int key = work.first + row() + Part::Layout::row(Part::Layout::slot(i));
      return Place{query, work.position(query), key, exponents[column]};
    };
    const GradientHooks gradients = {hooks_, scale_};
    if (whole)
      gradients.apply(weights, factors, record.head, place, [](const Place&) { return false; });
    else
      gradients.apply(weights, factors, record.head, place, [&](const Place& p) {
        const bool seen = hooks_.mask(p.position, p.key, record.head) != 0;
        return !(work.sees(p.query, p.key) && seen);
      });
  }
  __device__ void hide(Part& weights, const Work& work, const StepRecord& record, int first) const {
    if constexpr (kMaskGiven) {
      weights.map_at([&](f32 x, int r, int c) {
        const int query = record.query + first + c, key = work.first + row() + r;
        const bool seen = hooks_.mask(work.position(query), key, record.head) != 0;
        return work.sees(query, key) && seen ? x : 0;
      });
    } else {
      const int keys = work.keys - work.first - row();
      const int from = CAUSAL ? work.first + row() - work.position(record.query + first) : -STEP;
      weights.map_at([=](f32 x, int r, int c) { return r < keys && c >= from + r ? x : 0; });
    }
  }
  // Stores the gradients of scores for the products that read them.
  __device__ void derive(const Weights& x, u32 slot) const {
#pragma unroll
    for (int i = 0; i < Weights::Layout::kColumns; i += kPart) {
      Part ds;
      tcgen05::load(ds, at(Places::slopes + first_column() + i));
      map_columns(ds, &smem_.minus_delta[slot][first_column() + i], [](f32 s, f32 d) { return s + d; });
      ds.multiply(x.template columns<kPart>(i));
      ::store(smem_.gradients[0], row(), first_column() + i, ds);
      if constexpr (kRoomy) put(Places::slopes, i, ds);
    }
  }
  // x = f(x, its column's number); `numbers` are aligned to 16 bytes.
  template <class F> __device__ static void map_columns(Part& x, const f32* numbers, const F& f) {
    if constexpr (WIDE) return x.map_columns(numbers, f);
#pragma unroll
    for (int i = 0; i < kPart; i += 4) {
      const float4 of = *reinterpret_cast<const float4*>(&numbers[i]);
      x.x[i] = f(x.x[i], of.x), x.x[i + 1] = f(x.x[i + 1], of.y);
      x.x[i + 2] = f(x.x[i + 2], of.z), x.x[i + 3] = f(x.x[i + 3], of.w);
    }
  }

  // Stores a gradient of the warp's keys, or zeros.
  template <int Columns>
  __device__ void store(const Work& work, const View<T, 3>& to, u32 from, bool any, f32 scale, int columns) const {
    const View<T, 2> keys = work.keys_of(to);
#pragma unroll 1
    for (int i = 0; i < kRowsOfWarp; i += 16) {
      const int first = work.first + row() + i;
#pragma unroll
      for (int c = 0; c < Columns; c += 64) {
        RegisterTile<layout::Mma<16, 64>> part;
        part.fill(0);
        if (any) tcgen05::load(part, at(from + c, i));
        store_gradient(View<T, 2>{keys.data + s64{first} * keys.stride[0] + c, {keys.stride[0], 1}}, part, scale,
                       work.keys - first, columns - c);
      }
    }
  }

  Smem& smem_;
  const Hooks& hooks_;
  const f32 scale_;
  const int half_, warp_;                 // of the step's queries; of the warpgroup
  u32 count_ = 0, none_ = 0, tiles_ = 0;  // as the multiplier's
};

// Adds what each step gives to the sums of the gradients of queries, in a fixed order when its turn has come. Called by
// a warpgroup.
template <class Smem> class GradientAdder {
 public:
  __device__ GradientAdder(Smem& smem, const QuerySums& sums)
      : smem_(smem), sums_(sums), warp_(uniform(threadIdx.x % kWarpgroup / 32)) {}

  // Adds all that the block's next tile gives.
  __device__ void add_tile(int kv_head) {
    while (add_step()) {
    }
    if (!kOrdered) sync(1, kWarpgroup);
    if (threadIdx.x % kWarpgroup == 0) global::add_release(sums_.added(kv_head), 2);
  }

 private:
  static constexpr int kAcross = SIZE / 64, kOfWarp = STEP / 64;  // shares beside each other; 16 rows of a warp

  // Returns whether another step of the tile follows.
  __device__ bool add_step() {
    smem_.summed.wait(count_ % 2);
    const StepRecord record = smem_.record(count_++);
    if (record.none()) {
      arrive_warp(smem_.taken);
      return false;
    }
    tcgen05::fence_after();
    RegisterTile<layout::Mma<16, SIZE>> x[kOfWarp];
#pragma unroll
    for (int i = 0; i < kOfWarp; ++i)
      tcgen05::load(x[i], tensor_memory::at(smem_.address, warp_ * 32 + i * 16, Places::query_sums));
    arrive_warp(smem_.taken);
    u32* const rank = sums_.rank(record.number, 0);
    if (kOrdered) {
      if (threadIdx.x % kWarpgroup == 0) global::await(rank, record.rank);
      sync(1, kWarpgroup);
    }
#pragma unroll
    for (int i = 0; i < kOfWarp; ++i) {
      const int sixteenth = warp_ * kOfWarp + i, thread = sixteenth % 4 * 32 + threadIdx.x % 32;
#pragma unroll
      for (int c = 0; c < kAcross; ++c)
        add_share(sums_.of(record.number, sixteenth / 4 * kAcross + c), x[i].template columns<64>(c * 64),
                  kOrdered && record.rank == 0, thread);
    }
    if (kOrdered) {
      sync(1, kWarpgroup);
      if (threadIdx.x % kWarpgroup == 0) global::store_release(rank, record.rank + 1);
    }
    return !record.last();
  }

  Smem& smem_;
  const QuerySums& sums_;
  const int warp_;
  u32 count_ = 0;  // of steps
};

// The block's body, once shared memory has been initialised; round(piece, reader, thread, barrier) rounds the sums of a
// piece.
template <class Smem, class Round, class Search>
__device__ inline void make_gradients(Smem& smem, const StepMaps& from, const Round& round, const View<T, 3>& DK,
                                      const View<T, 3>& DV, const QuerySums& sums, f32 scale, const Dims& dims,
                                      const Hooks& hooks, const Search& search) {
  constexpr bool kRagged = Smem::Work::kRagged;
  const int warp = uniform(threadIdx.x / 32);
  if (warp < kAddWarp) {
    take_registers<144>();
    GradientWeigher<Smem> weigher(smem, hooks, scale);
    for (ItemReader items(smem); items.more(); items.next()) {
      if (items.has(kTile))
        weigher.make(items->tile, DK, DV);
      else if (items.has(kPiece))
        round(items->piece, RegisterSumsReader<kWeighThreads>(), threadIdx.x, 2);
    }
  } else if (warp < kMultiplyWarp) {
    take_registers<kRoomy ? 144 : 152>();
    GradientAdder<Smem> adder(smem, sums);
    for (ItemReader items(smem); items.more(); items.next())
      if (items.has(kTile)) adder.add_tile(items->tile.kv_head);
  } else {
    give_registers<kRoomy ? 80 : 72>();
    if (warp == kLoadWarp) {
      GradientProducer<kOrdered, Smem, Search>(smem, from, search).load(dims, sums.counters);
    } else if (warp == kMultiplyWarp) {
      GradientMultiplier<Smem> multiplier(smem);
      for (ItemReader items(smem); items.more(); items.next())
        if (items.has(kTile) && threadIdx.x % 32 == 0) multiplier.make(items.index());
    } else if constexpr (kRagged) {
      RowsCleaner<Smem> cleaner(smem, warp > kRestWarp);
      for (ItemReader items(smem); items.more(); items.next())
        if (items.has(kTile)) cleaner.clear_tile(items->tile, items.index());
    } else {
      for (ItemReader items(smem); items.more(); items.next())
        if (items.has(kTile) && items.has(kPiece))
          round(items->piece, RegisterSumsReader<64>(), threadIdx.x - kRestWarp * 32, 3);
    }
  }
  __syncwarp();
}

#endif
