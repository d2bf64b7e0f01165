#pragma once
// What precedes each tile of a row whose tiles are different blocks', joined in an order that is the same at every
// launch. 32 tiles form a group, and 32 groups a span. A tile joins what its group's tiles before it posted, what the
// last tiles of its span's groups before posted of theirs, and what precedes the span, which the last tile of the span
// before posts. A tile waits only for those before it, and only one warp of a block polls: more would take a good part
// of L2's bandwidth.
#include "device/ptx/acq_rel.cuh"
#include "device/ptx/bulk_prefetch.cuh"
#include "device/ptx/relaxed.cuh"
#include "device/reduce/register_row.cuh"
#include "device/reduce/row_scan.cuh"

// A part of four bytes as a word that is not 0: bit 32 says that there is one, bit 33 that a segment begins in it.
template <class X> __device__ inline void post(u64* to, const Part<X>& part) {
  static_assert(sizeof(X) == 4);
  const u64 flags = part.begins ? 3 : 1;
  relaxed::store(to, flags << 32 | *reinterpret_cast<const u32*>(&part.x));
}
// Returns what has been posted, when it has; `word` is what was found there before.
template <class X> __device__ inline Part<X> await_post(const u64* from, u64 word = 0) {
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

  // Posts the tile's elements joined, for the tiles after it. Called by thread 0 before before(), or with Near before
  // before_near().
  template <bool Near = false, class X> __device__ void post_own(const Part<X>& all) const {
    if (!ends_row() && (Near || !ends(kGroup))) post(parts + tile, all);
  }

  // Returns what precedes the tile, whose elements joined are `all`, and posts what the tile ends, if anything. Called
  // by all threads of the block.
  template <class Op, class X = typename Op::X>
  __device__ Part<X> before(const Part<X>& all, ChainSmem<X>& smem, const Op& op) const {
    if (threadIdx.x < 32) {
      const Part<X> before = awaited(all, op);
      if (threadIdx.x == 0) smem.before = before, smem.zero = 0;
    }
    __syncthreads();
    return smem.before;
  }

  // Returns the same, of a row of up to Threads tiles, of which a thread awaits one each: a tile's elements are read as
  // soon as they are posted, where before() has them joined by another tile first.
  template <int Threads, class Op, class X = typename Op::X>
  __device__ Part<X> before_near(ChainSmem<X>& smem, ScanSmem<Threads, 1, X>& scan, const Op& op) const {
    static_assert(Threads <= kSpan);
    const int before = static_cast<int>(threadIdx.x);
    if (threadIdx.x == 0) smem.zero = 0;
    Part<X> part[1] = {before < tile ? await_post<X>(parts + before) : op.neutral()};
    return scan_parts<Threads, Threads>(part, scan, op);
  }

  // Counts that the tile has read its span's words, and returns how many had. Called by the lanes of one warp, when
  // what precedes the tile has been used, and before results are stored, which it need not wait for.
  __device__ u32 leave(int lane) const {
    const int span = tile / kSpan;
    return lane == 0 ? atomicInc(readers + span, tiles_of(span) - 1) : 0;
  }
  // Clears the words if the tile was the last to read them. Called by the same warp with what leave() returned.
  __device__ void clear_if_last(u32 arrived, int lane) const {
    const int span = tile / kSpan, first = span * kSpan, count = tiles_of(span);
    if (__shfl_sync(0xffffffff, arrived, 0) + 1 < count) return;
    for (int i = lane; i < count; i += 32) relaxed::store(parts + first + i, 0);
    if (lane * kGroup < count) relaxed::store(groups + first / kGroup + lane, 0);
    if (lane == 0) relaxed::store(prefixes + span, 0);
  }

  // What precedes the tile, which posts what its group gave or what precedes the next span, if it ends one. Called by
  // one warp.
  template <class Op, class X = typename Op::X> __device__ Part<X> awaited(const Part<X>& all, const Op& op) const {
    const int lane = threadIdx.x % 32, group = tile / kGroup, span = tile / kSpan, first = span * (kSpan / kGroup);
    const auto joined_up = [&](const Part<X>& part) {  // in all lanes
      return shuffle<32, Op::kSegmented>(warp_scan<32>(part, op), 31);
    };
    // A lane has a tile of the group, and lane 0 what precedes the span, others a group of it. Both are looked at
    // before one is waited for: mostly the last to come is a tile.
    const u64* const tile_before = parts + group * kGroup + lane;
    const u64* const before_group = lane == 0 ? prefixes + span : groups + first + lane - 1;
    const bool has_tile = lane < tile % kGroup, has_before = lane == 0 ? span > 0 : lane <= group - first;
    const u64 of_tile = has_tile ? relaxed::load(tile_before) : 0;
    const u64 of_before = has_before ? relaxed::load(before_group) : 0;
    const Part<X> of_group = joined_up(has_tile ? await_post<X>(tile_before, of_tile) : op.neutral());
    if (lane == 0 && !ends_row() && ends(kGroup) && !ends(kSpan)) post(groups + group, op.joined(of_group, all));
    const Part<X> of_span = joined_up(has_before ? await_post<X>(before_group, of_before) : op.neutral());
    const Part<X> before = op.joined(of_span, of_group);
    if (lane == 0 && !ends_row() && ends(kSpan)) post(prefixes + span + 1, op.joined(before, all));
    return before;
  }

 private:
  __device__ int tiles_of(int span) const { return min(kSpan, tiles - span * kSpan); }
  __device__ bool ends_row() const { return tile + 1 == tiles; }
  __device__ bool ends(int count) const { return (tile + 1) % count == 0; }
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

// Begins to bring the Elements elements of tile `number`, if there is one, from memory to L2. Called by one thread.
template <int Elements, class T>
__device__ inline void prefetch_tile(const View<const T, 2>& from, u32 number, u32 tiles, int rows, int columns) {
  const u32 row = number / tiles;
  if (row >= static_cast<u32>(rows)) return;
  const int first = static_cast<int>(number - row * tiles) * Elements;
  const u64 begin = reinterpret_cast<u64>(from.data + row * from.stride[0] + first);
  const int bytes = min(Elements, columns - first) * int{sizeof(T)} / 16 * 16;
  if (bytes > 0) bulk::prefetch(reinterpret_cast<const void*>(begin / 16 * 16), bytes);
}

// Scans a tile of Threads * Packs packs of one of `rows` rows, which the grid's blocks share. With Ahead a block begins
// to bring to L2 the tile that lies so many behind its own: memory then works while blocks wait for each other. With
// Near a row has at most Threads tiles, each of which reads what all tiles before it posted. A block has its tile in
// registers before it stores results: `to` may be `from`. `words` and `counters` are those of ChainedRows, 0 before a
// launch, and after it.
template <bool Exclusive, int Threads, int Packs, int Count, int Ahead, bool Near, class T, class O, class Op>
__device__ inline void scan_tile(const View<const T, 2>& from, const View<const u8, 2>& flags, const View<O, 2>& to,
                                 int rows, int columns, u64* words, u32* counters, const Op& op) {
  using X = typename Op::X;
  __shared__ ScanSmem<Threads, Packs, X> smem;
  __shared__ ChainSmem<X> chain;
  const ChainedRows all_rows = {words, counters, gridDim.x / rows};
#if __CUDA_ARCH__ >= 900
  // While the block learns its number, the tile of its index comes to L2, for whichever block has it.
  if constexpr (Ahead == 0)
    if (threadIdx.x == Threads - 32)
      prefetch_tile<Threads * Packs * Count>(from, blockIdx.x, all_rows.tiles, rows, columns);
#endif
  const u32 number = begun(counters);
  if constexpr (Ahead > 0)
    if (threadIdx.x == Threads - 32)
      prefetch_tile<Threads * Packs * Count>(from, number + Ahead, all_rows.tiles, rows, columns);
  const ChainedTile chained = all_rows.tile(number);
  RegisterRow<Threads, Threads, 1, Count, Packs> row(from, rows, columns, number / all_rows.tiles);
  row.advance_parts(chained.tile);
  ScannedRow<decltype(row), T, Op> scanned(row, op, from, flags);
  Part<X> part[Packs];
  scanned.join(part);
  const Part<X> all = scan_parts<Threads, Threads>(part, smem, op);
  if (threadIdx.x == 0) chained.template post_own<Near>(all);
  Part<X> before;
  if constexpr (Near) {
    __shared__ ScanSmem<Threads, 1, X> near;
    before = chained.template before_near<Threads>(chain, near, op);
  } else {
    before = chained.before(all, chain, op);
  }
  const int lane = static_cast<int>(threadIdx.x % 32);
  const u32 arrived = threadIdx.x < 32 ? chained.leave(lane) : 0;
#pragma unroll
  for (Part<X>& of_pack : part) of_pack = op.joined(before, of_pack);
  scanned.convert_again(chain.zero);
  scanned.template store<Exclusive>(to, part);
  if (threadIdx.x < 32) chained.clear_if_last(arrived, lane);
}
