#pragma once
// What the files of attention's backward pass by mma.sync and cp.async share. A block makes the gradients of a tile of
// keys and values, or of a tile of queries, of which each warp has 16 rows, against the steps of what it sees or is
// seen by. R is the type of the numbers that are multiplied, to which those of 8 bits are converted on their way to
// shared memory. T, SCALED, HD, HV, TILE, STEP, PARTS, THREADS and SMEM are the template's.
#include "device/pipeline/cp_async_pipeline.cuh"
#include "device/pipeline/gradient_steps.cuh"
#include "device/tile/attention_gradient.cuh"
#include "device/tile/cp_async_tile.cuh"
#include "device/tile/head_numbers.cuh"
#include "device/tile/mma_tile.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

template <class R, int Rows, int Columns> using Rows16 = SharedTile<R, Rows, Columns, Columns % 64 == 0 ? 128 : 64>;
using Scores = RegisterTile<layout::Mma<16, STEP>>;

template <class R> struct Smem {
  Rows16<R, TILE, HD> own_first;   // keys, or queries
  Rows16<R, TILE, HV> own_second;  // values, or gradients of results
  Rows16<R, STEP, HD> first[2];    // queries, or keys
  Rows16<R, STEP, HV> second[2];   // gradients of results, or values
  alignas(8) f32 log_sum[2][STEP], delta[2][STEP];
};

// Starts copying the rows from `row` on, and fills the tile with zeros after the last of `rows`.
template <class R, int Rows, int Columns, int Swizzle>
__device__ inline void copy_rows(SharedTile<R, Rows, Columns, Swizzle>& to, const View<const R, 2>& from, int row,
                                 int rows) {
  using Panel = typename SharedTile<R, Rows, Columns, Swizzle>::Part;
#pragma unroll
  for (int p = 0; p < Columns / Panel::kColumns; ++p) {
    cp_async::TileCopy<Panel, THREADS, 16> copy;
    copy.start({from.data + p * Panel::kColumns, {from.stride[0], from.stride[1]}}, row, rows, Panel::kColumns);
#pragma unroll
    for (int i = 0; i < copy.kPasses; ++i) copy.copy(to.part(p), i);
  }
}

// Rows on their way to a tile: `start` is copy_rows, and `finish` ends the thread's part of what it has started but for
// cp.async. Numbers of 8 bits are in registers meanwhile.
template <class Tile, class E> struct RowsCopy {
  __device__ void start(Tile& to, const View<const E, 2>& from, int row, int rows) { copy_rows(to, from, row, rows); }
  __device__ void finish(Tile&) const {}
};
template <class Tile> class RowsCopy<Tile, e4m3> {
 public:
  __device__ void start(Tile&, const View<const e4m3, 2>& from, int row, int rows) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = i * THREADS + threadIdx.x, r = row + at / kAcross;
      const e4m3* const source = from.data + r * from.stride[0] + at % kAcross * 16;
      bytes_[i] = at < kAll && r < rows ? *reinterpret_cast<const uint4*>(source) : uint4{};
    }
  }
  __device__ void finish(Tile& to) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = i * THREADS + threadIdx.x, r = at / kAcross, column = at % kAcross * 16;
      if (at >= kAll) continue;
      to.template at<uint4>(r, column) = widened(bytes_[i].x, bytes_[i].y);
      to.template at<uint4>(r, column + 8) = widened(bytes_[i].z, bytes_[i].w);
    }
  }

 private:
  using R = typename Tile::Element;
  static constexpr int kAcross = Tile::kColumns / 16, kAll = Tile::kRows * kAcross,
                       kEach = (kAll + THREADS - 1) / THREADS;

  __device__ static uint4 widened(u32 a, u32 b) {
    return make_uint4(widen<R>(a), widen<R>(a >> 16), widen<R>(b), widen<R>(b >> 16));
  }

  uint4 bytes_[kEach];
};
template <class Tile> __device__ inline void copy_rows(Tile& to, const View<const e4m3, 2>& from, int row, int rows) {
  RowsCopy<Tile, e4m3> copy;
  copy.start(to, from, row, rows);
  copy.finish(to);
}

// Starts copying Count numbers from `first` on; zeros follow the last of `count`.
template <int Count> __device__ inline void copy_numbers(f32 (&to)[Count], const f32* from, int first, int count) {
  const int i = threadIdx.x;
  if (i < Count) cp_async::ca<4>(smem_address(&to[i]), from + first + i, first + i < count ? 4 : 0);
}

// d += a * b for the columns of b from `first` on; a are rounded sums, and b has a row for each column of a.
template <class R, int N, int Columns, int Swizzle>
__device__ inline void multiply_columns(RegisterTile<layout::Mma<16, N>>& d, const Scores& a,
                                        const SharedTile<R, STEP, Columns, Swizzle>& b, int first) {
  constexpr int kPart = N % 64 == 0 ? 64 : 32;  // columns whose operands are in registers at a time
#pragma unroll
  for (int k = 0; k < STEP; k += 16) {
#pragma unroll
    for (int n = 0; n < N; n += kPart) {
      mma::Operands<R, 16, kPart> operands;
      operands.round_a(a, k);
      operands.load_b_transposed(b, k, first + n);
      auto part = d.template columns<kPart>(n);
      operands.multiply(part);
      d.put_columns(n, part);
    }
  }
}

// Stores the columns of a gradient from `first` on through the shared memory of `own`, which all warps have read.
// store_panel(to, from, row, rows) stores a panel's rows from `row` on, of which those before `rows` exist, by the
// block.
template <class R, class StorePanel, class Own, int N>
__device__ inline void store_gradient(const StorePanel& store_panel, const View<R, 2>& to, Own& own,
                                      RegisterTile<layout::Mma<16, N>>& x, f32 scale, int row, int rows, int first) {
  auto& tile = reinterpret_cast<Rows16<R, TILE, N>&>(own);
  static_assert(sizeof(tile) <= sizeof(own));
  x.map([=](f32 e) { return e * scale; });
  store(tile, threadIdx.x / 32 * 16, 0, x);
  __syncthreads();
#pragma unroll
  for (int p = 0; p < tile.kPanels; ++p) {
    const View<R, 2> panel = {to.data + (first + p * tile.kPanel) * to.stride[1], {to.stride[0], to.stride[1]}};
    store_panel(panel, tile.part(p), row, rows);
  }
}

// Calls load(slot, step), finish(slot) and use(slot, step) for each of `steps`, the load of each before the use of the
// one before it, and its finish after that. Called by the whole block, whose other copies belong to the first load.
template <class Steps, class Load, class Finish, class Use>
__device__ inline void walk(Steps steps, const Load& load, const Finish& finish, const Use& use) {
  CpAsyncPipeline<2> pipeline;
  const auto start = [&](const typename Steps::Step& step) {
    const u32 slot = pipeline.acquire();
    if (step.exists()) load(slot, step);
    pipeline.commit();
    return slot;
  };
  typename Steps::Step now = steps.next();
  const u32 first = start(now);
  if (now.exists()) finish(first);
#pragma unroll 1
  while (now.exists()) {
    const u32 slot = pipeline.wait();
    const typename Steps::Step after = steps.next();
    const u32 filling = start(after);
    use(slot, now);
    if (after.exists()) finish(filling);
    now = after;
  }
  cp_async::wait_all();
  __syncthreads();
}

// The tensors of a kernel. Those of gradients are written.
template <class R> struct Tensors {
  View<const T, 3> Q, K, V;
  HeadNumbers numbers;
  View<const R, 3> DO;
  View<const f32, 2> L, DELTA;
  View<R, 3> DQ, DK, DV;
};

// Returns the gradient of a weight, less what all weights of the query have of it.
__device__ inline f32 weight_gradient(f32 product, f32 value_scale, f32 delta) {
  return SCALED == 1 ? fmaf(product, value_scale, -delta) : product - delta;
}

// The gradients of a tile of keys and values: of columns `part` of PARTS. The scores are transposed, so that weights
// and gradients of scores are operands of the products for DV and DK as they are.
template <class R, class Work, class StorePanel>
__device__ inline void make_key_gradients(Smem<R>& smem, const Work& work, const Tensors<R>& tensors, f32 scale,
                                          const Hooks& hooks, const StorePanel& store_panel, int part) {
  static_assert(sizeof(smem) <= SMEM);
  const int row = threadIdx.x / 32 * 16;
  const f32 value_scale = tensors.numbers.value_scale(work.key_head());
  RegisterTile<layout::Mma<16, HD / PARTS>> dk = {};
  RegisterTile<layout::Mma<16, HV / PARTS>> dv = {};
  copy_rows(smem.own_first, work.keys_of(tensors.K), work.first, work.keys);
  copy_rows(smem.own_second, work.keys_of(tensors.V), work.first, work.keys);
  using Steps = KeySteps<Work>;
  RowsCopy<Rows16<R, STEP, HD>, T> queries;
  const auto load = [&](u32 slot, const typename Steps::Step& step) {
    const int first = step.index() * STEP;
    queries.start(smem.first[slot], work.queries_of(tensors.Q, step.head), first, work.queries);
    copy_rows(smem.second[slot], work.queries_of(tensors.DO, step.head), first, work.queries);
    copy_numbers(smem.log_sum[slot], work.numbers_of(tensors.L, step.head), first, work.queries);
    copy_numbers(smem.delta[slot], work.numbers_of(tensors.DELTA, step.head), first, work.queries);
  };
  const auto finish = [&](u32 slot) { queries.finish(smem.first[slot]); };
  walk(Steps(work, OwnSearch(hooks)), load, finish, [&](u32 slot, const typename Steps::Step& step) {
    Scores s = {}, ds = {};
    mma::multiply(s, smem.own_first, row, smem.first[slot]);
    mma::multiply(ds, smem.own_second, row, smem.second[slot]);
    ds.map_columns(smem.delta[slot], [=](f32 x, f32 delta) { return weight_gradient(x, value_scale, delta); });
    const int first = step.index() * STEP;
    const GradientHooks gradients = {hooks, tensors.numbers.product_scale(scale, step.head, work.key_head())};
    struct Place {
      int query, position, key;
      f32 exponent;
    };
    const auto at = [&](int i) {
      const int column = Scores::Layout::column(i), query = first + column;
      return Place{query, work.position(query), work.first + row + Scores::Layout::row(Scores::Layout::slot(i)),
                   weight_exponent(smem.log_sum[slot][column])};
    };
    if (step.whole())
      gradients.apply(s, ds, work.hook_head(step.head), at, [](const Place&) { return false; });
    else
      gradients.apply(s, ds, work.hook_head(step.head), at, [&](const Place& p) {
        return !work.sees(p.query, p.key) || !hooks.mask(p.position, p.key, work.hook_head(step.head));
      });
    multiply_columns(dv, s, smem.second[slot], part * (HV / PARTS));
    if constexpr (SCALED == 1) {
      const f32 query_scale = tensors.numbers.query_scale(step.head);
      ds.map([=](f32 x) { return x * query_scale; });
    }
    multiply_columns(dk, ds, smem.first[slot], part * (HD / PARTS));
  });
  store_gradient(store_panel, work.keys_of(tensors.DK), smem.own_first, dk, scale, work.first, work.keys,
                 part * (HD / PARTS));
  store_gradient(store_panel, work.keys_of(tensors.DV), smem.own_second, dv, 1, work.first, work.keys,
                 part * (HV / PARTS));
}

// The gradients of a tile of queries, likewise; their scores are not transposed.
template <class R, class Work, class StorePanel>
__device__ inline void make_query_gradients(Smem<R>& smem, const Work& work, const Tensors<R>& tensors, f32 scale,
                                            const Hooks& hooks, const StorePanel& store_panel) {
  static_assert(sizeof(smem) <= SMEM);
  const int row = threadIdx.x / 32 * 16;
  const HeadNumbers& numbers = tensors.numbers;
  const GradientHooks gradients = {hooks, numbers.product_scale(scale, work.head, work.key_head())};
  const f32 value_scale = numbers.value_scale(work.key_head());
  RegisterTile<layout::Mma<16, HD>> dq = {};
  Scores::Vector exponent, delta;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int query = work.first + row + Scores::Layout::row(i);
    const bool exists = query < work.queries;
    exponent.x[i] = exists ? weight_exponent(work.numbers_of(tensors.L)[query]) : -infinity();
    delta.x[i] = exists ? work.numbers_of(tensors.DELTA)[query] : 0;
  }
  copy_rows(smem.own_first, work.queries_of(tensors.Q), work.first, work.queries);
  copy_rows(smem.own_second, work.queries_of(tensors.DO), work.first, work.queries);
  using Steps = QuerySteps<Work>;
  RowsCopy<Rows16<R, STEP, HD>, T> keys;
  RowsCopy<Rows16<R, STEP, HV>, T> values;
  const auto load = [&](u32 slot, const typename Steps::Step& step) {
    keys.start(smem.first[slot], work.keys_of(tensors.K), step.index() * STEP, work.keys);
    values.start(smem.second[slot], work.keys_of(tensors.V), step.index() * STEP, work.keys);
  };
  const auto finish = [&](u32 slot) {
    keys.finish(smem.first[slot]);
    values.finish(smem.second[slot]);
  };
  walk(Steps(work, hooks), load, finish, [&](u32 slot, const typename Steps::Step& step) {
    Scores s = {}, ds = {};
    mma::multiply(s, smem.own_first, row, smem.first[slot]);
    mma::multiply(ds, smem.own_second, row, smem.second[slot]);
    ds.map_rows(delta, [=](f32 x, f32 of_row) { return weight_gradient(x, value_scale, of_row); });
    struct Place {
      int row, position, key;
      f32 exponent;
    };
    const auto at = [&](int i) {
      const int slot_of = Scores::Layout::slot(i), r = row + Scores::Layout::row(slot_of);
      return Place{r, work.position(r), step.index() * STEP + Scores::Layout::column(i), exponent.x[slot_of]};
    };
    if (step.whole())
      gradients.apply(s, ds, work.head, at, [](const Place&) { return false; });
    else
      gradients.apply(s, ds, work.head, at, [&](const Place& p) {
        return !work.sees(p.row, p.key) || !hooks.mask(p.position, p.key, work.head);
      });
    multiply_columns(dq, ds, smem.first[slot], 0);
  });
  store_gradient(store_panel, work.queries_of(tensors.DQ), smem.own_first, dq,
                 scale * numbers.key_scale(work.key_head()), work.first, work.queries, 0);
}

#endif
