#pragma once
// What precedes each tile of a row whose tiles are different blocks', joined in an order that is the same at every
// launch. 32 tiles form a group, and 32 groups a span. A tile joins what its group's tiles before it posted, what the
// last tiles of its span's groups before posted of theirs, and what precedes the span, which the last tile of the span
// before posts. A tile waits only for those before it, and only one warp of a block polls: more would take a good part
// of L2's bandwidth.
#include "device/ptx/acq_rel.cuh"
#include "device/ptx/relaxed.cuh"
#include "device/reduce/register_row.cuh"
#include "device/reduce/row_scan.cuh"

// A part of four bytes as a word that is not 0: bit 32 says that there is one, bit 33 that a segment begins in it.
template <class X> __device__ inline void post(u64* to, const Part<X>& part) {
  static_assert(sizeof(X) == 4);
  const u64 flags = part.begins ? 3 : 1;
  relaxed::store(to, flags << 32 | *reinterpret_cast<const u32*>(&part.x));
}
// Returns what has been posted, when it has.
template <class X> __device__ inline Part<X> await_post(const u64* from) {
  u64 word = relaxed::load(from);
  while (word == 0) word = relaxed::load(from);
  const u32 x = static_cast<u32>(word);
  return {*reinterpret_cast<const X*>(&x), word >> 33 != 0};
}

// Shared memory of one use. `zero` is 0 after before(), which the compiler does not know.
template <class X> struct ChainSmem {
  Part<X> before;
  u32 zero;
};

// A row's tile. All words and counters are 0 before a launch, and after it.
struct ChainedTile {
  static constexpr int kGroup = 32, kSpan = 1024;  // tiles

  u64* parts;     // a word a tile of the row
  u64* groups;    // a word a group: its tiles joined
  u64* prefixes;  // a word a span: what precedes it
  u32* readers;   // a counter a span: tiles that have read its words
  int tile, tiles;

  // Words and counters of a row.
  __device__ static s64 words(s64 tiles) { return tiles + ceil_div<s64>(tiles, kGroup) + spans(tiles); }
  __device__ static s64 spans(s64 tiles) { return ceil_div<s64>(tiles, kSpan); }

  // Posts the tile's elements joined, for the tiles after it. Called by thread 0 before before().
  template <class X> __device__ void post_own(const Part<X>& all) const {
    if (!ends_row() && !ends(kGroup)) post(parts + tile, all);
  }

  // The same of every tile, when its elements have been read, which await_own() waits for. Called by thread 0.
  template <class X> __device__ void post_read(const Part<X>& all) const {
    fence::acq_rel_gpu();
    post(parts + tile, all);
  }
  // Waits until the tile's elements have been read by the block that calls post_read(), so that results may be stored
  // in their place. Called by thread 0 before before(), whose barrier tells the others.
  template <class X> __device__ void await_own() const {
    await_post<X>(parts + tile);
    fence::acq_rel_gpu();
  }

  // Returns what precedes the tile. Called by all threads of the block.
  template <class Op, class X = typename Op::X> __device__ Part<X> before(ChainSmem<X>& smem, const Op& op) const {
    if (threadIdx.x < 32) {
      const Part<X> before = awaited<false>(op.neutral(), op);
      if (threadIdx.x == 0) smem.before = before, smem.zero = 0;
    }
    __syncthreads();
    return smem.before;
  }
  // The same, and posts what the tile ends, if anything: its elements joined are `all`.
  template <class Op, class X = typename Op::X>
  __device__ Part<X> before(const Part<X>& all, ChainSmem<X>& smem, const Op& op) const {
    if (threadIdx.x < 32) {
      const Part<X> before = awaited<true>(all, op);
      if (threadIdx.x == 0) smem.before = before, smem.zero = 0;
    }
    __syncthreads();
    return smem.before;
  }
  // Posts what the tile ends, if anything. Called by one warp.
  template <class X, class Op> __device__ void pass_on(const Part<X>& all, const Op& op) const {
    if (!ends_row() && ends(kGroup)) awaited<true>(all, op);
  }

  // Counts one of `Turns` times that the tile has read its span's words, or will not read them. Called by all threads.
  // What a relaxed load returned has been used by then, so that no fence needs to wait for the stores before.
  template <int Turns = 1> __device__ u32 arrive() const {
    const int span = tile / kSpan;
    return threadIdx.x == 0 ? atomicInc(readers + span, Turns * min(kSpan, tiles - span * kSpan) - 1) : 0;
  }
  // Clears the words of the span if all others had been counted before: arrive() returned `arrived`.
  template <int Turns = 1> __device__ void clear(u32 arrived) const {
    if (threadIdx.x >= 32) return;
    const int span = tile / kSpan, first = span * kSpan, count = min(kSpan, tiles - first);
    arrived = __shfl_sync(0xffffffff, arrived, 0);
    if (arrived + 1 < Turns * count) return;
    for (int i = threadIdx.x; i < count; i += 32) relaxed::store(parts + first + i, 0);
    if (threadIdx.x * kGroup < count) relaxed::store(groups + first / kGroup + threadIdx.x, 0);
    if (threadIdx.x == 0) relaxed::store(prefixes + span, 0);
  }
  // Both, when the results have been stored.
  template <int Turns = 1> __device__ void leave() const { clear<Turns>(arrive<Turns>()); }

 private:
  __device__ bool ends_row() const { return tile + 1 == tiles; }
  __device__ bool ends(int count) const { return (tile + 1) % count == 0; }

  // What precedes the tile, in lane 0. With Post the tile, whose elements joined are `all`, posts those of the group or
  // what precedes the next span, if it ends one. Called by one warp.
  template <bool Post, class Op, class X = typename Op::X>
  __device__ Part<X> awaited(const Part<X>& all, const Op& op) const {
    const int lane = threadIdx.x % 32, group = tile / kGroup, span = tile / kSpan;
    const auto joined_up = [&](const u64* from, int count) {  // of what was posted at `from`; in all lanes
      const Part<X> part = lane < count ? await_post<X>(from + lane) : op.neutral();
      return shuffle<32, Op::kSegmented>(warp_scan<32>(part, op), 31);
    };
    const Part<X> of_group = joined_up(parts + group * kGroup, tile % kGroup);
    if (Post && lane == 0 && !ends_row() && ends(kGroup) && !ends(kSpan))
      post(groups + group, op.joined(of_group, all));
    const Part<X> of_span = joined_up(groups + span * (kSpan / kGroup), group % (kSpan / kGroup));
    Part<X> before = op.neutral();
    if (lane == 0 && span > 0) before = await_post<X>(prefixes + span);
    before = op.joined(before, op.joined(of_span, of_group));
    if (Post && lane == 0 && !ends_row() && ends(kSpan)) post(prefixes + span + 1, op.joined(before, all));
    return before;
  }
};

// The number of a block in the order in which blocks begin: tiles that others wait for are running or done. The counter
// is 0 before a launch, and after it.
__device__ inline u32 begun(u32* counter) {
  __shared__ u32 number;
  if (threadIdx.x == 0) number = atomicInc(counter, gridDim.x - 1);
  __syncthreads();
  return number;
}

// The tiles of a row, and what their blocks post.
struct ChainedRows {
  u64* words;     // for each row one a tile, one a group and one a span
  u32* counters;  // tiles that have begun, and for each row one a span
  u32 tiles;      // of a row

  __device__ ChainedTile tile(u32 number) const {
    const u32 m = number / tiles;
    u64* const parts = words + m * ChainedTile::words(tiles);
    u64* const groups = parts + tiles;
    return {parts,
            groups,
            groups + ceil_div<u32>(tiles, ChainedTile::kGroup),
            counters + 1 + m * ChainedTile::spans(tiles),
            static_cast<int>(number % tiles),
            static_cast<int>(tiles)};
  }
};

// Scans a tile of Threads * Packs packs of one of `rows` rows, which the grid's blocks share. A block has its tile in
// registers before it stores results: `to` may be `from`. `words` and `counters` are those of ChainedRows, 0 before a
// launch, and after it.
template <bool Exclusive, int Threads, int Packs, int Count, class T, class O, class Op>
__device__ inline void scan_tile(const View<const T, 2>& from, const View<const u8, 2>& flags, const View<O, 2>& to,
                                 int rows, int columns, u64* words, u32* counters, const Op& op) {
  using X = typename Op::X;
  __shared__ ScanSmem<Threads, Packs, X> smem;
  __shared__ ChainSmem<X> chain;
  const ChainedRows all_rows = {words, counters, gridDim.x / rows};
  const u32 number = begun(counters);
  const ChainedTile chained = all_rows.tile(number);
  RegisterRow<Threads, Threads, 1, Count, Packs> row(from, rows, columns, number / all_rows.tiles);
  row.advance_parts(chained.tile);
  ScannedRow<decltype(row), T, Op> scanned(row, op, from, flags);
  Part<X> part[Packs];
  scanned.join(part);
  const Part<X> all = scan_parts<Threads, Threads>(part, smem, op);
  if (threadIdx.x == 0) chained.post_own(all);
  const Part<X> before = chained.before(all, chain, op);
#pragma unroll
  for (Part<X>& of_pack : part) of_pack = op.joined(before, of_pack);
  scanned.convert_again(chain.zero);
  scanned.template store<Exclusive>(to, part);
  chained.leave();
}
