#pragma once
// The hooks of attention: score(s, q, k, head) is what becomes of a scaled product, and mask(q, k, head) whether query
// q sees key k. Positions are those of the keys: the last query is at the last key. Hooks is the template's.
#include "device/tile/capped_score.cuh"
#include "device/tile/interval.cuh"
#include "device/tile/packed_mask.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr bool kScoreGiven = Hooks::score_given, kMaskGiven = Hooks::mask_given;
// Numbers of 8 bits leave causal scores too few registers for it.
constexpr bool kScoreCapped = sizeof(T) == 2 && kCaps<Hooks>;

// Returns what a score is a multiple of as the softmax sees it, if products are scaled by `scale`.
__device__ inline f32 score_unit(const Hooks& hooks, f32 scale) {
  if constexpr (kScoreCapped) return capped(hooks, {0, scale}, 0).limit;
  return kScoreGiven ? 1 : fabsf(scale);
}

// Returns what the mask gives over queries and keys; both, where its text is no expression of intervals.
template <class H, class Head>
__device__ inline auto mask_over(const H& hooks, Interval q, Interval k, Head head, int)
    -> decltype(Truth(hooks.mask_of(q, k, head))) {
  return hooks.mask_of(q, k, head);
}
template <class H, class Head> __device__ inline Truth mask_over(const H&, Interval, Interval, Head, long) {
  return {true, false};
}

// Whether the mask's text is an expression that does not name the head, so that it has a meaning for a head of any
// type.
struct AnyHead {};
template <class H>
__device__ constexpr auto is_same_for_heads(const H* hooks, int)
    -> decltype(Truth(hooks->mask_of(Interval(0), Interval(0), AnyHead())), bool()) {
  return true;
}
template <class H> __device__ constexpr bool is_same_for_heads(const H*, long) {
  return false;
}
constexpr bool kMaskSameForHeads = is_same_for_heads(static_cast<const Hooks*>(nullptr), 0);
// Whether the steps that the mask leaves are found once for all heads: where it reads operands, which takes long.
constexpr bool kMaskFoundOnce = Hooks::mask_reads && kMaskSameForHeads;

// Returns which of 32 keys a query sees if the mask's text is `packed` and nothing else; otherwise an Unpacked, whose
// bits mean nothing.
struct Unpacked : SeenKeys {};
template <class H>
__device__ inline auto seen_keys(const H& hooks, s32 q, const Keys32& keys, s32 head, int)
    -> decltype(SeenKeys(hooks.mask_of(q, keys, head))) {
  return hooks.mask_of(q, keys, head);
}
template <class H> __device__ inline Unpacked seen_keys(const H&, s32, const Keys32&, s32, long) {
  return {};
}
template <class H>
constexpr bool kMaskOfBits =
    ptx::kSame<decltype(seen_keys(*static_cast<const H*>(nullptr), 0, *static_cast<const Keys32*>(nullptr), 0, 0)),
               SeenKeys>;

// Which registers of a tile of 16 rows hold scores that are seen: bit i of register i.
template <class Layout> class SeenRegisters {
  static_assert(Layout::kRows == 16 && Layout::kRegisters <= 64);

 public:
  // sees(row, column) is whether the tile's element is. Together is how many blocks of 8 columns are looked at
  // together: reads of operands for all of them would leave the scores too few registers.
  template <int Together, class Sees> __device__ static SeenRegisters where(const Sees& sees) {
    return of_blocks<Together>([&](int column) {
      u32 seen = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        seen |= static_cast<u32>(sees(Layout::row(Layout::slot(i)), column + Layout::column(i))) << i;
      return seen;
    });
  }
  // seen_of(column) are the four bits of the registers of the 8 columns from one on.
  template <int Together, class SeenOf> __device__ static SeenRegisters of_blocks(const SeenOf& seen_of) {
    SeenRegisters seen;
#pragma unroll Together
    for (int column = 0; column < Layout::kColumns; column += 8)
      (column < 64 ? seen.low_ : seen.high_) |= seen_of(column) << (column / 2 % 32);
    return seen;
  }

  __device__ void keep(const SeenRegisters& those) {
    low_ &= those.low_, high_ &= those.high_;
  }
  __device__ bool has(int i) const {
    return ((i < 32 ? low_ : high_) >> (i % 32) & 1) != 0;
  }
  // Clears the registers of the others.
  template <class Tile> __device__ void clear_others(Tile& s) const {
#pragma unroll
    for (int i = 0; i < Layout::kRegisters; ++i) s.x[i] = has(i) ? s.x[i] : 0;
  }

 private:
  u32 low_ = 0, high_ = 0;
};

// What the mask gives over a tile of queries and the keys from `first` to `last`.
template <class Work> struct TileMask {
  const Hooks& hooks;
  const Work& work;

  __device__ Truth operator()(int first, int last) const {
    const int bottom = work.rows() - 1;
    const Interval queries = {work.position(0), work.position(bottom)};
    Truth seen = mask_over(hooks, queries, {first, last}, heads(bottom), 0);
    seen.all = seen.all && last <= work.last(0);
    return seen;
  }
  // Returns the heads of the rows up to `bottom`.
  __device__ auto heads(int bottom) const {
    if constexpr (Work::kHeads == 1)
      return work.head;
    else
      return Interval(work.head_of(0), work.head_of(min(bottom, Work::kHeads - 1)));
  }
};

// What the hooks make of a score of the tile's query `row`.
template <class Work> struct ScoreHooks {
  const Hooks& hooks;
  const Work& work;

  __device__ bool sees(int row, int key) const {
    const bool seen =
        hooks.mask(work.position(row), key, work.head_of(row)) != 0;  // without a branch: an operand is read once
    return work.sees(row, key) && seen;
  }
  __device__ f32 score(f32 s, int row, int key) const {
    return hooks.score(s, work.position(row), key, work.head_of(row));
  }

  // Scales the products of the queries from `row` on and the keys from `key` on and applies the hook `score`, in
  // multiples of score_unit, or hides those that the mask does.
  template <class Scores> __device__ void apply_score(Scores& s, f32 scale, int row, int key) const {
    if constexpr (kScoreCapped)
      s.map_at([&](f32 x, int, int) { return capped(hooks, {x, scale}, 0).x; });
    else
      map(s, row, key, [&](f32 x, int q, int k, int head) { return hooks.score(x * scale, q, k, head); });
  }
  template <class Scores> __device__ void apply_mask(Scores& s, int row, int key, f32 hidden) const {
    if constexpr (kMaskOfBits<Hooks>)
      if (apply_bits(s, row, key, hidden)) return;
    map(s, row, key, [&](f32 x, int q, int k, int head) { return hooks.mask(q, k, head) != 0 ? x : hidden; });
  }
  // Hides what the mask does by its bits; `key` is a multiple of 16. Returns false and does nothing if the mask's text
  // divides 32 keys among several words.
  template <class Scores> __device__ bool apply_bits(Scores& s, int row, int key, f32 hidden) const {
    using Layout = typename Scores::Layout;
    constexpr bool kAligned = BN % 32 == 0 && Layout::kColumns % 32 == 0;
    constexpr int kWords = ceil_div(Layout::kColumns, 32), kRead = ceil_div(Layout::kColumns + (kAligned ? 0 : 16), 32);
    const int before = kAligned ? 0 : key % 32;  // keys of the first word that is read
    bool together = true;
    u32 seen[Layout::kRowSlots][kWords];
#pragma unroll
    for (int r = 0; r < Layout::kRowSlots; ++r) {
      const int query = row + Layout::row(r), q = work.position(query), head = work.head_of(query);
      u32 words[kRead];
#pragma unroll
      for (int w = 0; w < kRead; ++w)
        words[w] = seen_keys(hooks, q, Keys32{key - before + w * 32, together}, head, 0).bits;
#pragma unroll
      for (int w = 0; w < kWords; ++w)
        seen[r][w] = __funnelshift_r(words[w], words[min(w + 1, kRead - 1)], before) >> Layout::column(0);
    }
    if (!together) return false;
#pragma unroll
    for (int i = 0; i < Layout::kRegisters; ++i) {
      const int column = Layout::across(i);
      s.x[i] = (seen[Layout::slot(i)][column / 32] >> (column % 32) & 1) != 0 ? s.x[i] : hidden;
    }
    return true;
  }
  // Both, and what the tile's own limits hide; `whole` says that the mask and these hide none.
  template <class Scores> __device__ void apply(Scores& s, f32 scale, int row, int key, bool whole, f32 hidden) const {
    if constexpr (!kMaskGiven) {
      s.map_at([&](f32 x, int r, int c) {
        return work.sees(row + r, key + c) ? score(x * scale, row + r, key + c) : hidden;
      });
    } else {
      s.map_at([&](f32 x, int r, int c) { return score(x * scale, row + r, key + c); });
      if (!whole) s.map_at([&](f32 x, int r, int c) { return sees(row + r, key + c) ? x : hidden; });
    }
  }

 private:
  // x = f(x, query, key, head). Keys count from the thread's first query by constants and a number that the compiler
  // cannot see through: it then finds that the distances on a diagonal are the same, and computes what depends on
  // them once.
  template <class Scores, class F> __device__ void map(Scores& s, int row, int key, F f) const {
    using Layout = typename Scores::Layout;
    if constexpr (Work::kHeads == 1) {
      const int q = work.position(row + Layout::row(0));
      int ahead = q - (key + Layout::column(0));
      asm("" : "+r"(ahead));
#pragma unroll
      for (int i = 0; i < Layout::kRegisters; ++i)
        s.x[i] = f(s.x[i], q + Layout::down(i), q + (Layout::across(i) - ahead), work.head);
    } else {
      s.map_at([&](f32 x, int r, int c) { return f(x, work.position(row + r), key + c, work.head_of(row + r)); });
    }
  }
};

#endif
