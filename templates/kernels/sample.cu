//! kernel  sample   "I[m] = a column drawn with probability softmax(logit(X[m,:]) / temperature) from those that top_k and top_p keep; L[m] = the logarithm of that probability"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = f32   in {f32, bf16, f16}      "elements of X"
//! type    J       = s32   in {s32, s64}            "elements of I; -1 where all logits are minus infinity or NaN, which are never drawn"
//! dim     M, N            in 0..2147483647         "rows, and tokens of the vocabulary"
//!
//! param   LOGS    = 0     in {0, 1}                "1: there is an L"
//! param   THREADS = 1024  in {128, 256, 512, 1024} "of a block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a row"
//! param   KEPT    = 1     in {0, 1}                "1: a row is kept in shared memory; 0: each pass over it reads it again"
//! param   BLOCKS  = 1     in {1, 2, 3, 4}          "blocks that an SM is to have room for"
//!
//! let     PACKS   = ceil_div(N, 16 / sizeof(T)) + 1 "reads of 16 bytes of a row, of which the first and the last may be partial"
//! let     SMEM    = KEPT * ceil_div(PACKS, CLUSTER) * (16 / sizeof(T)) * 4 "bytes of a block's logits"
//!
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require SMEM + (THREADS == 1024 ? 34 : 45) * 1024 + THREADS <= device.smem_per_block "a row must fit into its blocks' shared memory"
//! require BLOCKS * THREADS <= device.threads_per_sm "an SM has so many threads at most"
//! require M == 0 || N <= 1 || stride(X, 1) == 1    "elements of a row of X are neighbours"
//!
//! tensor  X : T[M, N]
//! tensor  I : J[M]    out
//! tensor  L : f32[M]  out  when LOGS == 1
//! scalar  temperature : f32 = 1                    "0: the greatest logit, the first of equal ones"
//! scalar  top_k : s32 = 0                          "only so many of the greatest are kept, of equal ones the first; 0: all"
//! scalar  top_p : f32 = 1                          "of those only the fewest greatest whose probabilities add up to it"
//! scalar  seed : u64 = 0                           "the key of the random generator, Philox4x32-10"
//! scalar  offset : u64 = 0                         "its counter beside the row: another for each launch"
//!
//! hook    logit(f32 x, s32 row, s32 column) : f32 = x  "applied to each element first: penalties, biases, masks"
//!
//! cluster CLUSTER
//! launch  grid M * CLUSTER  block THREADS  smem SMEM
//! work    flops 8 * M * N  bytes M * (N * sizeof(T) + sizeof(J) + LOGS * 4)
//! reference sample_reference  grid min(M, 65536)  block 256
//!
//! preset  THREADS = 128  when N <= 2048
//! preset  THREADS = 512, CLUSTER = 4  when device.cluster_max >= 4 && 4 * M <= device.sm_count && N <= 65536
//! preset  THREADS = 1024, CLUSTER = 8  when device.cluster_max >= 8 && 8 * M <= device.sm_count && N > 65536
//! preset  THREADS = 512, CLUSTER = 8, BLOCKS = 2  when device.cluster_max >= 8 && device.smem_per_sm >= 220000 && M <= device.sm_count && N > 65536 && N <= 129536
//! preset  THREADS = 512, CLUSTER = 4, KEPT = 0, BLOCKS = 2  when device.cluster_max >= 4 && M > device.sm_count && N > 65536
//! preset  THREADS = 1024, CLUSTER = 4  when device.cluster_max >= 4 && 4 * M <= device.sm_count
//! preset  THREADS = 256  when N <= 8192
//! preset  THREADS = 512  when N <= 16384
//! preset  THREADS = 1024
//! preset  THREADS = 1024, CLUSTER = 4  when device.cluster_max >= 4
//! preset  THREADS = 1024, CLUSTER = 8  when device.cluster_max >= 8
//! preset  THREADS = 512, CLUSTER = 8, KEPT = 0  when device.cluster_max >= 8
//! preset  THREADS = 512, KEPT = 0

#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/ordered.cuh"
#include "device/reduce/token_weight.cuh"
#include "device/tile/philox.cuh"

// A number below `end`, each with the same probability but for a share of end / 2^64.
__device__ inline u64 random_below(u64 end, u32 row, u64 seed, u64 offset) {
  const uint4 x = philox4x32(make_uint4(static_cast<u32>(offset), static_cast<u32>(offset >> 32), row, 0), seed);
  return __umul64hi(u64{x.y} << 32 | x.x, end);
}

// The least integer weight that is a share `part` of `all`, at least 1.
__device__ inline u64 share_of(f32 part, u64 all) {
  const f64 share = ceil(static_cast<f64>(fmaxf(part, 0.0F)) * static_cast<f64>(all));
  return max(min(static_cast<u64>(share), all), u64{1});
}

constexpr int kPlaces = 2048;

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/block.cuh"
#include "device/reduce/few_tokens.cuh"
#include "device/reduce/key_search.cuh"
#include "device/reduce/shared_row.cuh"

constexpr int kEach = THREADS > 512 ? 16 : sizeof(T) == 4 && KEPT == 1 ? 32 : 24;  // as registers allow
using Few = FewTokens<T, THREADS, CLUSTER, kEach>;
using Search = KeySearch<THREADS, CLUSTER>;
static_assert(Search::kBins == kPlaces);

struct Smem {
  f32 greatest[THREADS / 32];
  u64 warps[THREADS / 32], prefix[THREADS / 32];
  ClusterReduction<CLUSTER, f32> greatest_of;
  ClusterReduction<CLUSTER, u64> sums;
  union {
    KeyHistograms<THREADS> histograms;
    Few few;
  };

  // Called by all threads, which then wait for the cluster before the first reduction over it.
  __device__ void init() {
    if constexpr (CLUSTER == 1) return;
    if (threadIdx.x == 0) greatest_of.init(), sums.init();
    cluster::arrive_relaxed();
  }
};

struct Greater {
  __device__ f32 operator()(f32 a, f32 b) const { return fmaxf(a, b); }
  __device__ u64 operator()(u64 a, u64 b) const { return max(a, b); }
};

// The greatest logit of a row that all its blocks read once, and its column, the first of equal ones.
template <class Logit>
__device__ inline u64 greatest_pair(const AlignedRow<T>& row, Smem& smem, int rank, const Logit& logit) {
  f32 most = -infinity();
  int column = 0;
  row.each<4>(rank * THREADS + threadIdx.x, CLUSTER * THREADS, 4 * CLUSTER * THREADS,
              [&](s64 p, const Elements<T>& x, PackRange range) {
#pragma unroll
                for (int i = 0; i < 16 / sizeof(T); ++i) {
                  const int at = static_cast<int>(row.index_of(p, i));
                  const f32 y = range.has(i) ? logit(to_f32(x[i]), at) : -infinity();
                  if (y > most) most = y, column = at;
                }
              });
  if constexpr (CLUSTER > 1) cluster::wait();
  const u64 pair = block_reduce<THREADS>(ordered_pair(most, column), smem.warps, u64{0}, Greater());
  return smem.sums(pair, Greater());
}

// The weight of a token above `least`; 1 if it has one, with `counting`. Weights are integers whose sums no order of
// addition changes, so that a random number chooses the same column wherever and by however many threads it is drawn.
struct Measure {
  const TokenWeight& weight;
  f32 least;
  bool counting;
  __device__ u32 operator()(f32 x) const {
    if (!(x > least)) return 0;
    return counting ? min(weight(x), 1U) : weight(x);
  }
};

// What can be drawn: tokens above measure.least, whose weights add up to `above`, and the first `equal` of those that
// have it, with the weight `each`.
struct Cut {
  u64 above, equal, each;
};

// Keeps the `most` greatest tokens of a row, or all if it is 0, and of those the share top_p of their weight.
template <class Row>
__device__ inline Cut cut(Search& search, const Row& row, const TokenPlace& place, Measure& measure, u64 most,
                          f32 top_p) {
  Cut cut = {0, 0, 1};
  // Stage 0 counts, stage 1 weighs, and a search may need the places once more.
#pragma unroll 1
  for (int stage = most > 0 ? 0 : 1; true; ++stage) {
    const bool counting = measure.counting = stage == 0;
    cut.above = search.sum(row, place, measure);
    if (stage == 2 || (stage == 1 && !(top_p < 1))) return cut;
    if (counting && cut.above <= most) continue;
    const u64 target = counting ? most : share_of(top_p, cut.above + cut.equal * cut.each);
    if (target <= cut.above) {
      const KeyFound found = search.key(row, target, place, measure);
      measure.least = number_of_ordered(found.key);
      cut.above = found.above, cut.each = measure.weight(measure.least);
    }
    cut.equal = counting ? target - cut.above : ceil_div(target - cut.above, cut.each);
    if (stage == 1 && search.has_places()) return cut;
  }
}

// Calls found(column, x) in the thread that has the token, in the order of columns, up to and with which the weights
// add up to more than `target`. `own` is the thread's share of them.
template <class Row, class Weight, class Found>
__device__ inline void find_in_order(const Row& row, Smem& smem, int rank, u64 target, u64 own, const Weight& weight,
                                     Found found) {
  for (int i = 0; i < rank; ++i) {
    if (target < smem.sums.part(i)) return;
    target -= smem.sums.part(i);
  }
  row.find_position(smem.prefix, own, target, weight, found);
}
// The sum of those shares over the blocks of a row, each of which smem.sums has then.
__device__ inline u64 sum_of(Smem& smem, u64 own) {
  const auto add = [](u64 a, u64 b) { return a + b; };
  return smem.sums(block_reduce<THREADS>(own, smem.warps, u64{0}, add), add);
}

// Calls found(column, x) in the thread that has the token which `chosen`, a number below the sum of all weights, stands
// for. Of tokens above measure.least those of greater places come first, so that only those of one place are read to
// find one, and of those the ones with lower columns.
template <class Row, class Found>
__device__ inline void find_chosen(Search& search, const Row& row, Smem& smem, int rank, const TokenPlace& place,
                                   const Measure& measure, const Cut& cut, u64 chosen, Found found) {
  const bool greater = chosen < cut.above;
  BinFound at = {};
  if (greater) at = search.bin(chosen + 1);
  const u64 target = greater ? chosen - at.above : (chosen - cut.above) / cut.each;
  const auto drawn = [&](f32 x) { return greater ? (place(x) == at.bin ? measure(x) : 0) : u32{x == measure.least}; };
  if (search.find_column(row, target, drawn, found)) return;
  const u64 own = row.sum_in_order(drawn);
  sum_of(smem, own);
  find_in_order(row, smem, rank, target, own, drawn, found);
}

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void sample(View<const T, 2> X, View<J, 1> I, View<f32, 1> L,
                                                                     f32 temperature, s32 top_k, f32 top_p, u64 seed,
                                                                     u64 offset, const Dims dims,
                                                                     const __grid_constant__ Hooks hooks) {
  extern __shared__ __align__(16) u8 kept[];
  __shared__ Smem smem;
  smem.init();
  const int m = blockIdx.x / CLUSTER, rank = CLUSTER == 1 ? 0 : cluster::rank();
  const auto logit = [&](f32 x, int column) {
    const f32 y = hooks.logit(x, m, column);
    return y == y ? y : -infinity();
  };
  const auto store = [&](int column, f32 log) {
    I.data[m * I.stride[0]] = column;
    if constexpr (LOGS) L.data[m * L.stride[0]] = log;
  };
  const auto store_drawn = [&](int column, f32 x, f32 greatest, u64 total) {
    const f32 log = x == greatest ? 0.0F : (x - greatest) / temperature;
    store(column, log - logf(static_cast<f32>(total) * 0x1p-31F));
  };
  const auto random = [&](u64 end) { return random_below(end, m, seed, offset); };
  const bool storing = threadIdx.x == 0 && rank == 0;
  const AlignedRow<T> aligned(X.data + m * X.stride[0], dims.N);
  if (!(temperature > 0)) {
    const u64 pair = greatest_pair(aligned, smem, rank, logit);
    const bool none = number_of_pair(pair) == ordered(-infinity());
    if (storing) store(none ? -1 : static_cast<int>(index_of_pair(pair)), none ? -infinity() : 0.0F);
    return;
  }
  const u64 most = max(top_k, 0);
  if (most > 0 && most <= Few::kMost) {
    if constexpr (CLUSTER > 1) cluster::wait();
    smem.few.select(aligned, dims.N, rank, static_cast<int>(most) + 1, logit);
    if (rank > 0) return;
    const f32 greatest = smem.few.greatest();
    const TokenWeight weight(greatest, temperature);
    if (greatest == -infinity()) {
      if (storing) store(-1, -infinity());
    } else {
      smem.few.draw(
          static_cast<int>(most), top_p < 1, weight, TokenPlace(weight, kPlaces), random,
          [&](u64 all) { return share_of(top_p, all); },
          [&](const Draw& draw) { store_drawn(draw.column, draw.x, greatest, draw.total); });
    }
    return;
  }
  const SharedRow<T, THREADS, KEPT, decltype(logit)> row(aligned, logit, kept, rank, CLUSTER);
  f32 greatest = -infinity();
  row.first_pass([&](f32 x) { greatest = fmaxf(greatest, x); });
  if constexpr (CLUSTER > 1) cluster::wait();
  greatest = block_reduce<THREADS>(greatest, smem.greatest, -infinity(), Greater());
  greatest = smem.greatest_of(greatest, Greater());
  if (greatest == -infinity()) {
    if (storing) store(-1, -infinity());
    return;
  }
  const TokenWeight weight(greatest, temperature);
  Measure measure = {weight, -infinity(), false};
  if (most == 0 && !(top_p < 1)) {
    const u64 own = row.sum_in_order(measure), total = sum_of(smem, own);
    find_in_order(row, smem, rank, random(total), own, measure,
                  [&](int column, f32 x) { store_drawn(column, x, greatest, total); });
    return;
  }
  const TokenPlace place(weight, kPlaces);
  Search search(smem.histograms, ceil_div<s64>(dims.N, CLUSTER) + 32);
  const Cut kept_tokens = cut(search, row, place, measure, most, top_p);
  const u64 total = kept_tokens.above + kept_tokens.equal * kept_tokens.each;
  find_chosen(search, row, smem, rank, place, measure, kept_tokens, random(total),
              [&](int column, f32 x) { store_drawn(column, x, greatest, total); });
}

#else

#include "device/reference/row_reduce.cuh"

// The greatest key whose sum reaches the target.
template <class F> __device__ inline u64 bisect(f64 target, F sum) {
  u64 key = 0;
  for (int bit = 31; bit >= 0; --bit)
    if (sum(key | u64{1} << bit) >= target) key |= u64{1} << bit;
  return key;
}

// One block per row. Keys and columns are found by bisection over sums of the whole row.
extern "C" __global__ void sample_reference(View<const T, 2> X, View<f64, 1> I, View<f64, 1> L, f32 temperature,
                                            s32 top_k, f32 top_p, u64 seed, u64 offset, const Dims dims,
                                            const __grid_constant__ Hooks hooks) {
  for (s64 m = blockIdx.x; m < dims.M; m += gridDim.x) {
    const auto element = [&](s64 n) {
      const f32 x = static_cast<f32>(hooks.logit(to_f64(X.data[m * X.stride[0] + n * X.stride[1]]), m, n));
      return x == x ? x : -infinity();
    };
    const f64 greatest = row_reduce(dims.N, -infinity(), element, [](f64 a, f64 b) { return fmax(a, b); });
    if (greatest == -infinity()) {
      if (threadIdx.x > 0) continue;
      I.data[m * I.stride[0]] = -1;
      if (LOGS) L.data[m * L.stride[0]] = -infinity();
      continue;
    }
    const TokenWeight weight(static_cast<f32>(greatest), temperature);
    // The sums, over elements whose keys are at least `key`, of their weights and of how many have one.
    const auto mass = [&](u64 key) {
      return row_sum(dims.N, [&](s64 n) { return ordered(element(n)) >= key ? weight(element(n)) : 0; });
    };
    const auto count = [&](u64 key) {
      return row_sum(dims.N, [&](s64 n) { return ordered(element(n)) >= key && weight(element(n)) > 0; });
    };
    u64 least = 0;
    f64 equal = 0;
    const f64 most = temperature > 0 ? max(top_k, 0) : 1;
    if (most > 0 && count(0) > most) {
      least = bisect(most, count);
      equal = most - count(least + 1);
    }
    const auto each = [&] { return static_cast<f64>(weight(number_of_ordered(static_cast<u32>(least)))); };
    if (top_p < 1) {
      const f64 all = mass(least + 1) + equal * each();
      const f64 target = share_of(top_p, static_cast<u64>(all));
      if (target <= mass(least + 1)) least = bisect(target, mass);
      equal = ceil((target - mass(least + 1)) / each());
    }
    const f64 above = mass(least + 1), total = above + equal * each();
    const f64 chosen = random_below(static_cast<u64>(total), m, seed, offset);
    const bool greater = chosen < above;
    const f64 target = greater ? chosen : floor((chosen - above) / each());
    // Of greater ones those of a greater place come first where some are left out.
    const bool by_places = most > 0 || top_p < 1;
    const TokenPlace place(weight, kPlaces);
    const auto from_place = [&](u32 from) {
      return row_sum(dims.N, [&](s64 n) {
        const f32 x = element(n);
        return ordered(x) > least && place(x) >= from ? static_cast<f64>(weight(x)) : 0.0;
      });
    };
    u32 at = 0;  // the greatest place with which more than `target` is reached
    for (u32 step = kPlaces / 2; step > 0 && greater && by_places; step /= 2)
      if (from_place(at + step) > target) at += step;
    const f64 left = greater && by_places ? target - from_place(at + 1) : target;
    s64 first = 0, last = dims.N - 1;  // the column is one of these
    while (first < last) {
      const s64 middle = (first + last) / 2;
      const f64 upto = row_sum(middle + 1, [&](s64 n) {
        const f32 x = element(n);
        if (!greater) return static_cast<f64>(ordered(x) == least);
        return ordered(x) > least && (!by_places || place(x) == at) ? static_cast<f64>(weight(x)) : 0.0;
      });
      upto > left ? last = middle : first = middle + 1;
    }
    const auto log_weight = [&](f32 x) { return x == greatest ? 0.0 : (x - greatest) / temperature; };
    const f64 sum =
        row_sum(dims.N, [&](s64 n) { return ordered(element(n)) > least ? exp(log_weight(element(n))) : 0; });
    const f64 rest = equal > 0 ? equal * exp(log_weight(number_of_ordered(static_cast<u32>(least)))) : 0;
    if (threadIdx.x > 0) continue;
    I.data[m * I.stride[0]] = first;
    if (LOGS) L.data[m * L.stride[0]] = log_weight(element(first)) - log(sum + rest);
  }
}

#endif
