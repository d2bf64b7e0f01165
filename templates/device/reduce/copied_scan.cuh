#pragma once
// Scans of rows that many blocks share, in tiles that bulk copies bring to shared memory. There a thread has segments
// of neighbouring elements, which it joins one after the other: where the elements that threads hold alternate, as in
// registers, every four or eight of them cost a scan over the warp.
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

// Scans a tile of one of `rows` rows, which begin at 16 bytes. `to` may be `from`: the results of a tile are stored
// when it is in shared memory.
template <bool Exclusive, int Threads, int Segments, class T, class O, class Op> struct CopiedScan {
  using X = typename Op::X;
  using Tile = CopiedTile<T, Threads, Segments, X>;
  static constexpr int kSegment = Tile::kSegment;

  Tile& tile;
  const Op& op;
  int row, first, count;  // where the tile begins, and how many elements of the row it has

  // Begins the copy of the next tile that no block has. Called by all threads.
  __device__ CopiedScan(Tile& tile, const View<const T, 2>& from, int columns, const ChainedRows& rows, const Op& op)
      : tile(tile), op(op) {
    if (threadIdx.x == 0) {
      tile.number = atomicInc(rows.counters, gridDim.x - 1);
      place(tile.number, rows.tiles, columns);
      tile.full.init(1);
      fence_barrier_init();
      tile.full.expect(whole() * sizeof(T));
      if (whole() > 0) bulk::load(tile.in, begin(from), whole() * sizeof(T), tile.full);
    }
    __syncthreads();
    place(tile.number, rows.tiles, columns);
    if (threadIdx.x < count - whole()) tile.in[whole() + threadIdx.x] = begin(from)[whole() + threadIdx.x];
    __syncthreads();
    tile.full.wait(0);
  }

  // Sets part[s] to the elements of the thread's segment s, joined.
  __device__ void join(Part<X> (&part)[Segments]) const {
    if (count == Tile::kTile)
      join_elements<true>(part);
    else
      join_elements<false>(part);
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
  __device__ void place(u32 number, u32 tiles, int columns) {
    row = static_cast<int>(number / tiles);
    first = static_cast<int>(number % tiles) * Tile::kTile;
    count = min(Tile::kTile, columns - first);
  }
  // Elements that a bulk copy can move.
  __device__ int whole() const {
    return count / int{16 / sizeof(T)} * int{16 / sizeof(T)};
  }
  __device__ const T* begin(const View<const T, 2>& from) const {
    return from.data + row * from.stride[0] + first;
  }

  template <bool Whole> __device__ void join_elements(Part<X> (&part)[Segments]) const {
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
        *reinterpret_cast<uint4*>(&tile.sums[segment][i]) = *reinterpret_cast<const uint4*>(sum);
      }
    }
  }
};
