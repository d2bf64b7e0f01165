#pragma once
// The sums of the gradients of queries, in a workspace: what two consumer warpgroups make of each step of queries is
// added in any order, or for each step in the order of the tiles of keys, and rounded once all of a head's tiles have
// been added. The sums of a step are as the consumers' registers have them: 64 x 64 of each.
#include "device/epilogue/store_gradient.cuh"
#include "device/ptx/acquire.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/red.cuh"
#include "device/reduce/grid.cuh"

constexpr int kSums = 4096;  // of a step and consumer

// The workspaces. They are zero before and after a launch.
struct QuerySums {
  f32* sums;      // [number of the step][consumer][kSums]
  u32* counters;  // items drawn; of each head of keys the shares of tiles that have been added, and pieces rounded
  u32* ranks;     // [number of the step][consumer]: tiles added, where the order is fixed

  __device__ QuerySums(u8* sums, u8* counters, u8* ranks)
      : sums(reinterpret_cast<f32*>(sums)),
        counters(reinterpret_cast<u32*>(counters)),
        ranks(reinterpret_cast<u32*>(ranks)) {}

  __device__ f32* of(int number, int consumer) const { return sums + (s64{number} * 2 + consumer) * kSums; }
  __device__ u32* rank(int number, int consumer) const { return ranks + s64{number} * 2 + consumer; }
  __device__ u32* added(int kv_head) const { return counters + 1 + 2 * s64{kv_head}; }
  __device__ u32* rounded(int kv_head) const { return counters + 2 + 2 * s64{kv_head}; }
};

// Adds a consumer's registers to its share of a step's sums. Called by a warpgroup.
template <class Tile> __device__ inline void add_share(f32* share, const Tile& x) {
  f32* const to = share + threadIdx.x % 128 * 4;
#pragma unroll
  for (int i = 0; i < kSums / 512; ++i)
    global::add_4(to + i * 512, x.x[4 * i], x.x[4 * i + 1], x.x[4 * i + 2], x.x[4 * i + 3]);
}

// Where threads that have few registers keep the sums that they round: four packs each, of this item and the next.
template <int Threads> struct RoundedSums { float4 packs[2][4][Threads]; };

// Scales, rounds and stores the sums of a piece, and clears them. `rows_of(head)` are the sequence's rows of DQ of a
// head; Columns of a step's sums are 64 or 128. Called by Threads threads, of which this is number `thread`, a multiple
// of a warp; uses a named barrier. The sums pass through `copies`.
template <int Threads, int Columns, bool Ordered, class Piece, class RowsOf>
__device__ inline void round_sums(const QuerySums& sums, const Piece& piece, f32 scale, int columns,
                                  const RowsOf& rows_of, RoundedSums<Threads>& copies, int thread, int barrier) {
  if (thread % 32 == 0) global::await(sums.added(piece.kv_head), 2 * piece.tiles);
  __syncwarp();
  // Items are 32 columns of a consumer's share of a step, of the registers of one of its threads.
  constexpr int kItems = kSums / 8, kStep = 2 * kSums / Columns;
  const int end = (piece.end - piece.begin) * kItems;
  const auto pack_of = [&](int item) {
    return reinterpret_cast<float4*>(sums.of(piece.begin, 0)) + s64{item / 128} * 512 + item % 128;
  };
  const auto copy = [&](int item, int slot) {
#pragma unroll
    for (int block = 0; block < 4 && item < end; ++block)
      cp_async::cg(smem_address(&copies.packs[slot][block][thread]), pack_of(item) + block * 128);
    cp_async::commit();
  };
  copy(thread, 0);
  int slot = 0;
#pragma unroll 1
  for (int item = thread; item < end; item += Threads, slot ^= 1) {
    copy(item + Threads, slot ^ 1);
    cp_async::wait<1>();
    const int of_all = piece.begin + item / kItems - piece.base, consumer = item / 256 % 2, half = item / 128 % 2;
    const int row = of_all % piece.steps * kStep + (Columns == 64 ? consumer * 64 : 0) + item % 128 / 32 * 16;
    const int column = (Columns == 64 ? 0 : consumer * 64) + half * 32;
    const auto pair = [&](int block, int i) {
      const float2 x = reinterpret_cast<const float2*>(&copies.packs[slot][block][thread])[i];
      return make_float2(x.x * scale, x.y * scale);
    };
    auto to = rows_of(of_all / piece.steps);
    to.data += s64{row} * to.stride[0] + column;
    store_32_columns(to, pair, piece.queries - row, columns - column);
#pragma unroll
    for (int block = 0; block < 4; ++block) pack_of(item)[block * 128] = make_float4(0, 0, 0, 0);
  }
  cp_async::wait<0>();
  if constexpr (Ordered)
    for (int i = thread; i < (piece.end - piece.begin) * 2; i += Threads) sums.rank(piece.begin, 0)[i] = 0;
  sync(barrier, Threads);
  if (thread == 0 && last_arriver(sums.rounded(piece.kv_head), piece.pieces)) *sums.added(piece.kv_head) = 0;
}
