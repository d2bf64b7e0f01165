#pragma once
// What precedes each tile of a row whose tiles are different blocks', joined in an order that is the same at every
// launch. Tiles form groups of as many as a block has threads. A tile joins what its group's tiles before it posted,
// and what precedes the group, which the last tile of the group before posts. A tile waits only for those before it.
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

// The number of a block in the order in which blocks begin: tiles that others wait for are running or done. The counter
// is 0 before a launch, and after it.
__device__ inline u32 begun(u32* counter) {
  __shared__ u32 number;
  if (threadIdx.x == 0) number = atomicInc(counter, gridDim.x - 1);
  __syncthreads();
  return number;
}

// Scans a tile of Threads * Packs packs of 16 bytes of one of `rows` rows, which the grid's blocks share. A block has
// its tile in registers before it stores results: `to` may be `from`. `words` has room for a word for each tile and
// each group of tiles, `counters` for one, and one for each group; both are 0 before a launch, and after it.
template <bool Exclusive, int Threads, int Packs, class T, class O, class Op>
__device__ inline void scan_tile(const View<const T, 2>& from, const View<const u8, 2>& flags, const View<O, 2>& to,
                                 int rows, int columns, u64* words, u32* counters, const Op& op) {
  using X = typename Op::X;
  __shared__ ScanSmem<Threads, Packs, X> smem;
  __shared__ ChainSmem<Threads, X> chain;
  const u32 number = begun(counters), tiles = gridDim.x / rows, m = number / tiles, tile = number % tiles;
  const s64 groups = ceil_div<u32>(tiles, Threads);
  u64* const word = words + m * (tiles + groups);
  const ChainedTile<Threads> chained = {word, word + tiles, counters + 1 + m * groups, static_cast<int>(tile),
                                        static_cast<int>(tiles)};
  RegisterRow<Threads, Threads, 1, 16 / sizeof(T), Packs> row(from, rows, columns, m);
  row.advance_parts(tile);
  ScannedRow<decltype(row), T, Op> scanned(row, op, from, flags);
  Part<X> part[Packs];
  scanned.join(part);
  const Part<X> all = scan_parts<Threads, Threads>(part, smem, op);
  const Part<X> before = chained.before(all, chain, op);
#pragma unroll
  for (Part<X>& of_pack : part) of_pack = op.joined(before, of_pack);
  scanned.convert_again(chain.zero);
  scanned.template store<Exclusive>(to, part);
  chained.leave();
}
