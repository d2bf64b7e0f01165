#pragma once
// A scan of rows that blocks share as tiles: a block walks over tiles, which bulk copies bring to shared memory before
// they are needed. A tile is read twice from there: once to add up its elements, which is posted for the tiles behind,
// and once more, when what precedes it is known, to store results. In between the block adds up its next tile, so that
// a post never waits for another block, and a block rarely for a post.
#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/reduce/chained_parts.cuh"

// Shared memory of Stages tiles. Of a tile whose number is kNone there is nothing: the block is done before it.
template <class T, class X, int Threads, int Packs, int Count, int Stages> struct RingScanSmem {
  static constexpr u32 kNone = ~u32{0};
  // What is known of a tile has one of eight places. A tile is added up when the one eight before it has been stored.
  static constexpr int kKnown = 8;
  alignas(128) Words<T, Count> tile[Stages][Packs][Threads];
  ScanSmem<Threads, Packs, X> scan[2];
  Part<X> all[kKnown], before[kKnown];  // a tile's elements, and what precedes them
  u32 number[Stages];
  Barrier full[Stages], empty[Stages], added_up[kKnown], known[kKnown];

  // Called by all threads of the block.
  __device__ void init() {
    if (threadIdx.x == 0) {
#pragma unroll
      for (int i = 0; i < Stages; ++i) full[i].init(1), empty[i].init(Threads / 32 + 1);
#pragma unroll
      for (int i = 0; i < kKnown; ++i) added_up[i].init(1), known[i].init(1);
      fence_barrier_init();
    }
    __syncthreads();
  }
};

// Blocks have Threads threads that scan, of which Lag tiles are added up before one is stored, and 96 more: a warp that
// loads, and two that wait for what precedes a tile, in turn.
template <bool Exclusive, int Threads, int Packs, int Count, int Stages, int Lag, class T, class O, class Op>
class RingScan {
 public:
  static constexpr int kThreads = Threads + 96;  // of a block
  using X = typename Op::X;
  using Row = RegisterRow<Threads, Threads, 1, Count, Packs, true>;
  using Smem = RingScanSmem<T, X, Threads, Packs, Count, Stages>;
  static_assert(Lag < Smem::kKnown && Lag < Stages);

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
    if (threadIdx.x < Threads)
      scan();
    else if (threadIdx.x >= Threads + 32)
      await_every_other((threadIdx.x - Threads) / 32 - 1);
    else if (threadIdx.x == Threads)
      load_all();
  }

 private:
  using Parts = Part<X>[Packs];
  static constexpr int kKnown = Smem::kKnown;

  // Draws tiles until there are none, and copies each when there is a place for it. Numbers are drawn one by one: tiles
  // that follow one another are rarely a block's. Two numbers say that there are no more, one for each warp that waits.
  __device__ void load_all() const {
    const u32 count = static_cast<u32>(rows_) * chain_.tiles;
    for (int i = 0, left = 2; left > 0; ++i) {
      // Each block draws one number that is too large.
      const u32 number = left == 1 ? count : atomicInc(chain_.counters, count + gridDim.x - 1);
      const int slot = i % Stages;
      smem_.empty[slot].wait(i / Stages % 2 ^ 1);
      smem_.number[slot] = number < count ? number : Smem::kNone;
      if (number < count) {
        load(slot, static_cast<int>(number / chain_.tiles), static_cast<int>(number % chain_.tiles));
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
    for (int i = first;; i += 2) {
      const int known = i % kKnown;
      const u32 number = loaded(i);
      if (number == Smem::kNone) return;
      __syncwarp();
      if (threadIdx.x % 32 == 0) smem_.empty[i % Stages].arrive();
      const ChainedTile chained = chain_.tile(number);
      smem_.added_up[known].wait(i / kKnown % 2);
      const Part<X> before = chained.awaited(smem_.all[known], op_);
      if (threadIdx.x % 32 == 0) {
        smem_.before[known] = before;
        smem_.known[known].arrive();
      }
      const int lane = static_cast<int>(threadIdx.x % 32);
      chained.clear_if_last(chained.leave(lane), lane);
    }
  }

  // Adds up tile i while what precedes the Lag tiles before it is found.
  __device__ void scan() const {
    Parts parts[Lag + 1];  // of tiles i, i - 1, ...
    u32 numbers[Lag + 1];
#pragma unroll
    for (u32& number : numbers) number = Smem::kNone;
    for (int i = 0, behind = 0; behind < Lag; ++i) {
#pragma unroll
      for (int k = Lag; k > 0; --k) {
        numbers[k] = numbers[k - 1];
#pragma unroll
        for (int p = 0; p < Packs; ++p) parts[k][p] = parts[k - 1][p];
      }
      if (behind == 0) numbers[0] = loaded(i);
      if (numbers[0] == Smem::kNone)
        ++behind;
      else
        add_up(i, numbers[0], parts[0]);
      if (numbers[Lag] != Smem::kNone) store(i - Lag, numbers[Lag], parts[Lag]);
    }
  }
  // The number of the block's tile i, once it is in shared memory.
  __device__ u32 loaded(int i) const {
    smem_.full[i % Stages].wait(i / Stages % 2);
    return smem_.number[i % Stages];
  }
  __device__ Row row_of(u32 number) const {
    Row row(rows_, columns_, number / chain_.tiles);
    row.advance_parts(static_cast<int>(number % chain_.tiles));
    return row;
  }
  __device__ ScannedRow<Row, T, Op> scanned(int i, const Row& row) const {
    return {row, op_, row.copied(&smem_.tile[i % Stages][0][threadIdx.x]), View<const u8, 2>{}};
  }
  __device__ void add_up(int i, u32 number, Parts& parts) const {
    const Row row = row_of(number);
    scanned(i, row).join(parts);
    const Part<X> all = scan_parts<Threads, Threads>(parts, smem_.scan[i % 2], op_, [] { sync(1, Threads); });
    if (threadIdx.x > 0) return;
    chain_.tile(number).post_own(all);
    smem_.all[i % kKnown] = all;
    smem_.added_up[i % kKnown].arrive();
  }
  __device__ void store(int i, u32 number, Parts& parts) const {
    const Row row = row_of(number);
    const auto elements = scanned(i, row);
    fence::proxy_async_shared();
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.empty[i % Stages].arrive();
    smem_.known[i % kKnown].wait(i / kKnown % 2);
    const Part<X> before = smem_.before[i % kKnown];
#pragma unroll
    for (Part<X>& of_pack : parts) of_pack = op_.joined(before, of_pack);
    elements.template store<Exclusive>(to_, parts);
  }

  const View<const T, 2>& from_;
  const View<O, 2>& to_;
  const int rows_, columns_;
  const ChainedRows chain_;
  Smem& smem_;
  const Op& op_;
};
