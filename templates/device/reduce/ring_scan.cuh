#pragma once
// A scan of rows that blocks share as tiles: a block walks over tiles, which bulk copies bring to shared memory before
// they are needed. A tile's elements are added up, which is posted for the tiles behind, and scanned when what precedes
// them is known: read again from shared memory, or kept in registers. In between the block adds up its next tiles, so
// that a post never waits for another block, and a block rarely for a post.
#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/reduce/adjacent_row.cuh"
#include "device/reduce/chained_parts.cuh"

// How Threads threads scan tiles, each with Packs packs of Count elements. There is room for Stages tiles. Lag tiles
// are added up before one is stored, and stay in shared memory meanwhile, or with Kept in registers. The packs of a
// thread are Threads packs apart, or Adjacent, whose results bulk copies store.
template <int Threads, int Packs, int Count, int Stages, int Lag, bool Adjacent, bool Kept> struct RingScanShape {
  static_assert(Kept || Lag < Stages);
  static constexpr int kThreads = Threads, kPacks = Packs, kCount = Count, kStages = Stages, kLag = Lag;
  static constexpr bool kAdjacent = Adjacent, kKept = Kept;

  // The row of a thread that has a part of a tile, of which it scans the elements of each of kParts.
  __device__ static auto row(int rows, int columns, u32 row) {
    if constexpr (Adjacent)
      return AdjacentRow<Threads, Count, Packs>(rows, columns, row);
    else
      return RegisterRow<Threads, Threads, 1, Count, Packs, true>(rows, columns, row);
  }
  using Row = decltype(row(0, 0, 0));
  static constexpr int kParts = Adjacent ? 1 : Packs;
};

// A tile of a row; without a row there is nothing, and the block is done before it.
struct RingTile {
  static constexpr u32 kNone = ~u32{0};
  u32 row, tile;
  __device__ bool none() const { return row == kNone; }
};

// Shared memory of a block, with results of O if it is not void.
template <class T, class O, class X, class Shape> struct RingScanSmem {
  // What is known of a tile has one of eight places. A tile is added up when the one eight before it has been stored.
  static constexpr int kKnown = 8, kStages = Shape::kStages;
  static_assert(Shape::kLag < kKnown);
  alignas(128) Words<T, Shape::kCount> tile[kStages][Shape::kPacks * Shape::kThreads];
  alignas(128) Words<O, Shape::kCount> result[Shape::kAdjacent ? Shape::kPacks * Shape::kThreads : 1];
  ScanSmem<Shape::kThreads, Shape::kParts, X> scan[2];
  Part<X> all[kKnown], before[kKnown];  // a tile's elements, and what precedes them
  RingTile place[kStages];
  Barrier full[kStages], empty[kStages], added_up[kKnown], known[kKnown];

  // Called by all threads of the block.
  __device__ void init() {
    if (threadIdx.x == 0) {
#pragma unroll
      for (int i = 0; i < kStages; ++i) full[i].init(1), empty[i].init(Shape::kThreads / 32 + 1);
#pragma unroll
      for (int i = 0; i < kKnown; ++i) added_up[i].init(1), known[i].init(1);
      fence_barrier_init();
    }
    __syncthreads();
  }
};

// Blocks have the shape's threads and 96 more: a warp that loads, and two that wait for what precedes a tile, in turn.
template <bool Exclusive, class Shape, class T, class O, class Op> class RingScan {
 public:
  static constexpr int kThreads = Shape::kThreads + 96;  // of a block
  using X = typename Op::X;
  using Smem = RingScanSmem<T, O, X, Shape>;

  // `words` and `counters` are those of ChainedRows, which are 0 before a launch, and after it. `tiles` are of a row.
  __device__ RingScan(const View<const T, 2>& from, const View<O, 2>& to, int rows, int columns, int tiles, u64* words,
                      u32* counters, Smem& smem, const Op& op)
      : from_(from),
        to_(to),
        rows_(rows),
        columns_(columns),
        chain_{words, counters, static_cast<u32>(tiles)},
        smem_(smem),
        op_(op) {}

  // Called by all threads of the block, after init() of its shared memory.
  __device__ void run() const {
    if (threadIdx.x < kScanning)
      scan();
    else if (threadIdx.x >= kScanning + 32)
      await_every_other((threadIdx.x - kScanning) / 32 - 1);
    else if (threadIdx.x == kScanning)
      load_all();
  }

 private:
  using Row = typename Shape::Row;
  using Raw = typename Row::template Raw<T>;
  using Parts = Part<X>[Shape::kParts];
  static constexpr int kScanning = Shape::kThreads, kStages = Shape::kStages, kLag = Shape::kLag;
  static constexpr int kKnown = Smem::kKnown;

  // What a thread has of a tile between its addition and its results.
  struct Added {
    RingTile place;
    Parts parts;
    Raw in;  // if Kept
  };

  // Draws tiles until there are none, and copies each when there is a place for it. Numbers are drawn one by one: tiles
  // that follow one another are rarely a block's. Two numbers say that there are no more, one for each warp that waits.
  __device__ void load_all() const {
    const u32 count = static_cast<u32>(rows_) * chain_.tiles;
    for (int i = 0, left = 2; left > 0; ++i) {
      // Each block draws one number that is too large.
      const u32 number = left == 1 ? count : atomicInc(chain_.counters, count + gridDim.x - 1);
      const u32 row = number / chain_.tiles, tile = number - row * chain_.tiles;
      const int slot = i % kStages;
      smem_.empty[slot].wait(i / kStages % 2 ^ 1);
      fence::proxy_async_shared();
      smem_.place[slot] = {number < count ? row : RingTile::kNone, tile};
      if (number < count) {
        load(slot, static_cast<int>(row), static_cast<int>(tile));
      } else {
        smem_.full[slot].arrive();
        --left;
      }
    }
  }
  __device__ void load(int slot, int row, int tile) const {
    const int first = tile * Row::kHeld, bytes = min(Row::kHeld, columns_ - first) * static_cast<int>(sizeof(T));
    smem_.full[slot].expect(bytes);
    bulk::load(smem_.tile[slot], from_.data + row * from_.stride[0] + first, bytes, smem_.full[slot]);
  }

  // Finds what precedes tiles first, first + 2, ... of the block. Called by a warp.
  __device__ void await_every_other(int first) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    ChainedTile chained;
    u32 arrived;
    for (int i = first;; i += 2) {
      const int known = i % kKnown;
      const RingTile place = loaded(i);
      // What leave() returned has come meanwhile.
      if (i > first) chained.clear_if_last(arrived, lane);
      if (place.none()) return;
      __syncwarp();
      if (lane == 0) smem_.empty[i % kStages].arrive();
      chained = chain_.tile(place.row, place.tile);
      smem_.added_up[known].wait(i / kKnown % 2);
      const Part<X> before = chained.awaited(smem_.all[known], op_);
      if (lane == 0) {
        smem_.before[known] = before;
        smem_.known[known].arrive();
      }
      arrived = chained.leave(lane);
    }
  }

  // Adds up tile i while what precedes the kLag tiles before it is found.
  __device__ void scan() const {
    Added added[kLag + 1];  // tiles i, i - 1, ...
#pragma unroll
    for (Added& tile : added) tile.place.row = RingTile::kNone;
    for (int i = 0, behind = 0; behind < kLag; ++i) {
#pragma unroll
      for (int k = kLag; k > 0; --k) added[k] = added[k - 1];
      if (behind == 0) added[0].place = loaded(i);
      if (added[0].place.none())
        ++behind;
      else
        add_up(i, added[0]);
      if (!added[kLag].place.none()) store(i - kLag, added[kLag]);
    }
    if constexpr (Shape::kAdjacent) bulk::wait_read<0>();
  }
  // The block's tile i, once it is in shared memory.
  __device__ RingTile loaded(int i) const {
    smem_.full[i % kStages].wait(i / kStages % 2);
    return smem_.place[i % kStages];
  }
  __device__ Row row_of(const RingTile& place) const {
    Row row = Shape::row(rows_, columns_, place.row);
    row.advance_parts(static_cast<int>(place.tile));
    return row;
  }
  __device__ Raw read(int i, const Row& row) const {
    return row.copied(&smem_.tile[i % kStages][threadIdx.x * (Shape::kAdjacent ? Shape::kPacks : 1)]);
  }
  // The scanning threads no longer need tile i in shared memory. Called by a warp.
  __device__ void release(int i) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.empty[i % kStages].arrive();
  }
  __device__ ScannedRow<Row, T, Op> scanned(const Row& row, const Raw& in) const {
    return {row, op_, in, View<const u8, 2>{}};
  }
  __device__ void add_up(int i, Added& tile) const {
    const Row row = row_of(tile.place);
    const Raw in = read(i, row);
    scanned(row, in).join(tile.parts);
    if constexpr (Shape::kKept) {
      release(i);
      tile.in = in;
    }
    const Part<X> all =
        scan_parts<kScanning, kScanning>(tile.parts, smem_.scan[i % 2], op_, [] { sync(1, kScanning); });
    if (threadIdx.x > 0) return;
    chain_.tile(tile.place.row, tile.place.tile).post_own(all);
    smem_.all[i % kKnown] = all;
    smem_.added_up[i % kKnown].arrive();
  }
  __device__ void store(int i, Added& tile) const {
    const Row row = row_of(tile.place);
    if constexpr (!Shape::kKept) {
      tile.in = read(i, row);
      release(i);
    }
    const auto elements = scanned(row, tile.in);
    smem_.known[i % kKnown].wait(i / kKnown % 2);
    const Part<X> before = smem_.before[i % kKnown];
#pragma unroll
    for (Part<X>& of_pack : tile.parts) of_pack = op_.joined(before, of_pack);
    if constexpr (Shape::kAdjacent)
      store_adjacent(row, elements, tile.parts);
    else
      elements.template store<Exclusive>(to_, tile.parts);
  }
  // Stores the results of a warp by a bulk copy, which reads shared memory while the next tiles are added up.
  template <class Elements>
  __device__ void store_adjacent(const Row& row, const Elements& elements, Parts& parts) const {
    Words<O, Shape::kCount>* const mine = smem_.result + threadIdx.x * Shape::kPacks;
    const bool first = threadIdx.x % 32 == 0;
    if (first) bulk::wait_read<0>();
    __syncwarp();
    elements.template each_result<Exclusive, O>(parts,
                                                [&](int, const Pack<O, Row::kCount>& out) { Row::put(mine, out); });
    fence::proxy_async_shared();
    __syncwarp();
    if (first && row.left > 0) {
      const int bytes = min(32 * Row::kCount, row.left) * static_cast<int>(sizeof(O));
      bulk::store(to_.data + row.row * to_.stride[0] + row.column, mine, bytes);
      bulk::commit();
    }
  }

  const View<const T, 2>& from_;
  const View<O, 2>& to_;
  const int rows_, columns_;
  const ChainedRows chain_;
  Smem& smem_;
  const Op& op_;
};
