#pragma once
// What precedes each tile of a row whose tiles are different blocks', joined in an order that is the same at every
// launch. Tiles form groups of as many as a block has threads. A tile joins what its group's tiles before it posted,
// and what precedes the group, which the last tile of the group before posts. A tile waits only for those before it.
#include "device/ptx/cp_async.cuh"
#include "device/ptx/relaxed.cuh"
#include "device/reduce/grid.cuh"
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
template <int Threads, class X> struct ChainSmem {
  Part<X> warps[Threads / 32], group;
  u32 zero;
};

// A row's tile. All words and counters are 0 before a launch, and after it.
template <int Threads> struct ChainedTile {
  u64* parts;     // a word a tile of the row
  u64* prefixes;  // a word a group: what precedes it
  u32* readers;   // a counter a group: tiles that have read its words
  int tile, tiles;

  // Returns what precedes the tile, whose elements joined are `all`. Called by all Threads threads.
  template <class Op, class X = typename Op::X>
  __device__ Part<X> before(const Part<X>& all, ChainSmem<Threads, X>& smem, const Op& op) const {
    const int group = tile / Threads, index = tile % Threads;
    const bool ends_row = tile + 1 == tiles, ends_group = index + 1 == Threads;
    if (threadIdx.x == 0 && !ends_row && !ends_group) post(parts + tile, all);
    Part<X> part = op.neutral();
    if (threadIdx.x < index) part = await_post<X>(parts + group * Threads + threadIdx.x);
    part = warp_scan<32>(part, op);
    if (threadIdx.x % 32 == 31) smem.warps[threadIdx.x / 32] = part;
    // The last thread has no tile to wait for.
    if (threadIdx.x == Threads - 1) {
      smem.zero = 0;
      smem.group = group > 0 ? await_post<X>(prefixes + group) : op.neutral();
    }
    __syncthreads();
    Part<X> before = smem.warps[0];
#pragma unroll
    for (int warp = 1; warp < Threads / 32; ++warp) before = op.joined(before, smem.warps[warp]);
    before = op.joined(smem.group, before);
    if (threadIdx.x == 0 && !ends_row && ends_group) post(prefixes + group + 1, op.joined(before, all));
    return before;
  }

  // Clears the words of the group when all its tiles have read them. Called by all threads, after before().
  __device__ void leave() const {
    if (threadIdx.x >= 32) return;
    const int group = tile / Threads, first = group * Threads, count = min(Threads, tiles - first);
    int last = threadIdx.x == 0 && last_arriver(readers + group, count);
    last = __shfl_sync(0xffffffff, last, 0);
    if (last == 0) return;
    __syncwarp();
    for (int i = threadIdx.x; i < count; i += 32) relaxed::store(parts + first + i, 0);
    if (threadIdx.x == 0) relaxed::store(prefixes + group, 0);
  }
};

// The packs of a thread's next tile on their way into shared memory, where they lie Step packs apart. Packs of which
// the row lacks elements are read at once.
template <int Step, class Row, class T> struct NextPacks {
  using Pack = Words<T, Row::kCount>;

  Pack* packs;  // the thread's first

  // `begin` is the address of the row's column 0.
  __device__ void start(const Row& row, const T* begin) const {
#pragma unroll
    for (int p = 0; p < Row::kPacks; ++p) {
      if (row.whole(p)) {
        cp_async::cg(smem_address(packs + p * Step), begin + row.column_of(p, 0));
        continue;
      }
      Pack part = {};
#pragma unroll
      for (int i = 0; i < Row::kCount; ++i)
        if (row.holds(p, i)) part.set(i, begin[row.column_of(p, i)]);
      packs[p * Step] = part;
    }
    cp_async::commit();
  }
  __device__ typename Row::template Raw<T> finish() const {
    cp_async::wait<0>();
    typename Row::template Raw<T> in;
#pragma unroll
    for (int p = 0; p < Row::kPacks; ++p) in.pack[p] = packs[p * Step];
    return in;
  }
};

// Scans `rows` rows in tiles of Threads * Packs packs of 16 bytes, which the grid's blocks take in order; a block reads
// its next tile while it works on one. A tile is in registers before its results are stored: `to` may be `from`. Tiles
// that others wait for are running or done. `words` has room for a word for each tile and each group of tiles,
// `counters` for one, and one for each group; both are 0 before a launch, and after it.
template <bool Exclusive, int Threads, int Packs, class T, class O, class Op>
__device__ inline void scan_tiles(const View<const T, 2>& from, const View<const u8, 2>& flags, const View<O, 2>& to,
                                  int rows, int columns, u64* words, u32* counters, const Op& op) {
  using X = typename Op::X;
  using Row = RegisterRow<Threads, Threads, 1, 16 / sizeof(T), Packs>;
  __shared__ ScanSmem<Threads, Packs, X> smem;
  __shared__ ChainSmem<Threads, X> chain;
  __shared__ Words<T, Row::kCount> packs[Packs * Threads];
  __shared__ u32 begun[2];
  const bool straight =
      reinterpret_cast<u64>(from.data) % 16 == 0 && (rows <= 1 || from.stride[0] % Row::kCount == 0);
  const u32 tiles = columns == 0 ? 0 : (columns + (straight ? 0 : Row::kCount - 1) + Row::kHeld - 1) / Row::kHeld;
  const u32 all = tiles * rows, groups = ceil_div<u32>(tiles, Threads);
  // Each block takes two numbers beyond the last.
  const auto take = [&] { return atomicInc(counters, all + 2 * gridDim.x - 1); };
  const auto row_of = [&](u32 number) {
    Row row(from, rows, columns, number / tiles);
    row.advance_parts(number % tiles);
    return row;
  };
  const NextPacks<Threads, Row, T> next = {packs + threadIdx.x};
  const auto start = [&](u32 number) {
    if (number >= all) return;
    const Row row = row_of(number);
    next.start(row, from.data + row.row * from.stride[0]);
  };
  if (threadIdx.x == 0) begun[0] = take(), begun[1] = take();
  __syncthreads();
  u32 number = begun[0];
  start(number);
  // Invariant: the tile's packs are on their way, and begun[1] is the number of the next after a barrier.
  while (number < all) {
    const u32 m = number / tiles, tile = number % tiles;
    u64* const word = words + s64{m} * (tiles + groups);
    const ChainedTile<Threads> chained = {word, word + tiles, counters + 1 + s64{m} * groups, static_cast<int>(tile),
                                          static_cast<int>(tiles)};
    const Row row = row_of(number);
    ScannedRow<Row, T, Op> scanned(row, op, next.finish(), flags);
    Part<X> part[Packs];
    scanned.join(part);
    const Part<X> sum = scan_parts<Threads, Threads>(part, smem, op);
    number = begun[1];
    start(number);
    u32 taken = 0;
    if (threadIdx.x == 0) taken = take();
    const Part<X> before = chained.before(sum, chain, op);
    chained.leave();
#pragma unroll
    for (Part<X>& of_pack : part) of_pack = op.joined(before, of_pack);
    scanned.convert_again(chain.zero);
    scanned.template store<Exclusive>(to, part);
    if (threadIdx.x == 0) begun[1] = taken;
  }
}
