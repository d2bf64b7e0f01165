#pragma once
// Scans of rows that many blocks share, in two phases, so that no block holds a part of a row while it waits for
// others. Each block of the first phase joins the elements of a tile and posts what they give; each block of the second
// one, which finds what precedes its tile, reads it again, from L2, and stores results. A tile is in shared memory,
// where a bulk copy brings it and a thread has neighbouring elements, which it joins one after the other: where the
// elements that threads hold alternate, as in registers, every four or eight of them cost a scan over the warp.
#include "device/ptx/bulk.cuh"
#include "device/reduce/chained_parts.cuh"

// A tile is Threads * Segments segments of 32 bytes of X.
template <class T, int Threads, int Segments, class X> struct CopiedTile {
  static constexpr int kSegment = 32 / sizeof(T), kTile = Threads * Segments * kSegment;
  static constexpr int kPitch = kSegment + 4;  // of the sums: neighbouring threads write to different banks

  alignas(16) T in[kTile];
  alignas(16) X sums[Threads * Segments][kPitch];  // of each segment's elements up to or before each
  X before[Threads * Segments];                    // what precedes a segment
  Barrier full;
  u32 number;
};

// A block's tile of one of `rows` rows, which begin at 16 bytes, in one of the phases. Batches of Batch tiles
// alternate: the first phases of batches 0 and 1, the second of 0, the first of 2, the second of 1, and so on. Results
// may be stored where the elements were: a tile's are stored when the first phase has read it, and its elements are in
// shared memory for the last time.
template <bool Exclusive, int Threads, int Segments, int Batch, class T, class O, class Op> struct CopiedScan {
  using X = typename Op::X;
  using Tile = CopiedTile<T, Threads, Segments, X>;
  static constexpr int kSegment = Tile::kSegment;

  Tile& tile;
  const Op& op;
  bool second, any;       // the second phase; whether there is such a tile
  int row, first, count;  // where the tile begins, and how many elements of the row it has
  u32 number;             // of the tile

  // Begins the copy of the tile of the next block in the order in which blocks begin. Called by all threads.
  __device__ CopiedScan(Tile& tile, const View<const T, 2>& from, int rows, int columns, const ChainedRows& chained,
                        const Op& op)
      : tile(tile), op(op) {
    if (threadIdx.x == 0) {
      tile.number = atomicInc(chained.counters, gridDim.x - 1);
      place(tile.number, rows, columns, chained.tiles);
      tile.full.init(1);
      fence_barrier_init();
      tile.full.expect(whole() * sizeof(T));
      if (whole() > 0) bulk::load(tile.in, begin(from), whole() * sizeof(T), tile.full);
    }
    __syncthreads();
    place(tile.number, rows, columns, chained.tiles);
    if (threadIdx.x < count - whole()) tile.in[whole() + threadIdx.x] = begin(from)[whole() + threadIdx.x];
  }
  // Waits for the tile.
  __device__ void wait() const {
    __syncthreads();
    tile.full.wait(0);
  }

  // Sets part[s] to the elements of the thread's segment s, joined.
  __device__ void join(Part<X> (&part)[Segments]) const {
    if (!second)
      count == Tile::kTile ? join_elements<true, false>(part) : join_elements<false, false>(part);
    else
      count == Tile::kTile ? join_elements<true, true>(part) : join_elements<false, true>(part);
  }

  // Stores the results; before[s] is what precedes the thread's segment s.
  __device__ void store(const View<O, 2>& to, const Part<X> (&before)[Segments]) const {
    constexpr int kCount = 16 / sizeof(O), kPacks = Tile::kTile / kCount / Threads;
#pragma unroll
    for (int s = 0; s < Segments; ++s) tile.before[s * Threads + threadIdx.x] = before[s].x;
    __syncthreads();
    O* const begin = to.data + row * to.stride[0] + first;
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int at = (p * Threads + static_cast<int>(threadIdx.x)) * kCount, segment = at / kSegment;
      const X preceding = tile.before[segment];
      alignas(16) X sum[kCount];
#pragma unroll
      for (int i = 0; i < kCount; i += 4)
        *reinterpret_cast<uint4*>(sum + i) = *reinterpret_cast<const uint4*>(&tile.sums[segment][at % kSegment + i]);
      Pack<O, kCount> out;
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        out.x[i] = op.template result<O>(op.combine(preceding, sum[i]), row, first + at + i);
      if (at + kCount <= count) {
        store_whole_pack(begin + at, out);
      } else {
#pragma unroll
        for (int i = 0; i < kCount; ++i)
          if (at + i < count) begin[at + i] = out.x[i];
      }
    }
  }

 private:
  __device__ void place(u32 begun, int rows, int columns, u32 tiles) {
    const u32 turn = begun / Batch, turns = gridDim.x / Batch;
    second = turn == turns - 1 || (turn > 0 && turn % 2 == 0);
    const u32 batch = turn == 0 ? 0 : turn == turns - 1 ? turns / 2 - 1 : second ? turn / 2 - 1 : turn / 2 + 1;
    number = batch * Batch + begun % Batch;
    row = static_cast<int>(number / tiles);
    any = row < rows;
    first = static_cast<int>(number % tiles) * Tile::kTile;
    count = any ? min(Tile::kTile, columns - first) : 0;
  }
  // Elements that a bulk copy can move.
  __device__ int whole() const {
    return count / int{16 / sizeof(T)} * int{16 / sizeof(T)};
  }
  __device__ const T* begin(const View<const T, 2>& from) const {
    return from.data + row * from.stride[0] + first;
  }

  template <bool Whole, bool Kept> __device__ void join_elements(Part<X> (&part)[Segments]) const {
    constexpr int kCount = 16 / sizeof(T);
#pragma unroll
    for (int s = 0; s < Segments; ++s) {
      const int segment = s * Threads + static_cast<int>(threadIdx.x);
      part[s] = op.neutral();
#pragma unroll
      for (int i = 0; i < kSegment; i += 4) {
        alignas(16) X sum[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int at = segment * kSegment + i + k;
          const auto words = reinterpret_cast<const Words<T, kCount>*>(tile.in)[(segment * kSegment + i) / kCount];
          Part<X> element = op.neutral();
          if (Whole || at < count) element = {op.element(words.at((i + k) % kCount), row, first + at), false};
          sum[k] = op.template next<Exclusive>(part[s], element);
        }
        if constexpr (Kept) *reinterpret_cast<uint4*>(&tile.sums[segment][i]) = *reinterpret_cast<const uint4*>(sum);
      }
    }
  }
};
