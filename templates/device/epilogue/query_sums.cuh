#pragma once
// The sums of the gradients of queries, in a workspace: what two consumer warpgroups make of each step of queries is
// added in any order, or for each step in the order of the tiles of keys, and rounded once all of a head's tiles have
// been added. The sums of a step are as the consumers' registers have them: 64 x 64 of each.
#include "device/epilogue/store_gradient.cuh"
#include "device/pipeline/ring.cuh"
#include "device/ptx/acquire.cuh"
#include "device/ptx/bulk_group.cuh"
#include "device/ptx/bulk_reduce.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/red.cuh"
#include "device/reduce/grid.cuh"

constexpr int kSums = 4096;  // of a step and consumer

// Where a consumer's share of the sums of a step is, and how many tiles are to be added before.
struct SumsPlace {
  int number, rank;
};

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

// How a consumer's share of a step's sums is added where the order is fixed: it is left in shared memory for a thread
// that waits for its turn. All but `add` is called by a consumer warpgroup; `index` counts its shares.
template <bool Ordered> struct StagedSums {
  alignas(128) f32 sums[kSums];
  SumsPlace place;
  bool last;  // of the tile
  Barrier full, empty;

  __device__ void init() {
    full.init(4);
    empty.init(1);
  }
  template <class Tile>
  __device__ void give(const QuerySums&, u32 index, const Tile& x, const SumsPlace& to, bool is_last, int) {
    const int thread = threadIdx.x % 128;
    empty.wait(index % 2 ^ 1);
#pragma unroll
    for (int i = 0; i < kSums / 512; ++i)
      reinterpret_cast<float4*>(sums)[i * 128 + thread] =
          make_float4(x.x[4 * i], x.x[4 * i + 1], x.x[4 * i + 2], x.x[4 * i + 3]);
    fence::proxy_async_shared();
    announce(to, is_last);
  }
  // Instead of the only share of a tile without steps.
  __device__ void give_none(u32 index) {
    empty.wait(index % 2 ^ 1);
    announce({-1, 0}, true);
  }
  // Adds the next share. Returns whether it is the tile's last. Called by one thread.
  __device__ bool add(const QuerySums& to, Ring<1>& ring, int consumer) {
    full.wait(ring.phase);
    ring.advance();
    const SumsPlace at = place;
    const bool is_last = last;
    if (at.number < 0) {
      empty.arrive();
      return is_last;
    }
    u32* const rank = to.rank(at.number, consumer);
    global::await(rank, at.rank);
    bulk::reduce<Reduction::add>(to.of(at.number, consumer), sums, sizeof(sums));
    bulk::commit();
    bulk::wait_read<0>();
    empty.arrive();
    bulk::wait<0>();
    global::store_release(rank, at.rank + 1);
    return is_last;
  }

 private:
  __device__ void announce(const SumsPlace& to, bool is_last) {
    if (threadIdx.x % 128 == 0) place = to, last = is_last;
    __syncwarp();
    if (threadIdx.x % 32 == 0) full.arrive();
  }
};

// The same where any order will do: the consumer adds its registers.
template <> struct StagedSums<false> {
  __device__ void init() {}
  template <class Tile>
  __device__ void give(const QuerySums& to, u32, const Tile& x, const SumsPlace& at, bool, int consumer) {
    f32* const sums = to.of(at.number, consumer) + threadIdx.x % 128 * 4;
#pragma unroll
    for (int i = 0; i < kSums / 512; ++i)
      global::add_4(sums + i * 512, x.x[4 * i], x.x[4 * i + 1], x.x[4 * i + 2], x.x[4 * i + 3]);
  }
  __device__ void give_none(u32) {}
};

// Scales, rounds and stores the sums of a piece, and clears them. `rows_of(head)` are the sequence's rows of DQ of a
// head; Columns of a step's sums are 64 or 128. Called by Threads threads, of which this is number `thread`, a multiple
// of a warp; uses a named barrier.
template <int Threads, int Columns, bool Ordered, class Piece, class RowsOf>
__device__ inline void round_sums(const QuerySums& sums, const Piece& piece, f32 scale, int columns,
                                  const RowsOf& rows_of, int thread, int barrier) {
  if (thread % 32 == 0) global::await(sums.added(piece.kv_head), 2 * piece.tiles);
  __syncwarp();
  constexpr int kStep = 2 * kSums / Columns;
#pragma unroll 1
  for (int number = piece.begin; number < piece.end; ++number) {
    const int of_all = number - piece.base, head = of_all / piece.steps, first = of_all % piece.steps * kStep;
    auto* const packs = reinterpret_cast<float4*>(sums.of(number, 0));
    auto to = rows_of(head);
#pragma unroll 1
    for (int i = thread; i < kSums / 8; i += Threads) {  // packs of 32 columns: consumer, half, thread of the consumer
      const int consumer = i / 256, half = i / 128 % 2, of = i % 128;
      auto* const from = packs + consumer * (kSums / 4) + half * 512 + of;
      const auto pair = [&](int block, int k) {
        const float2 x = reinterpret_cast<const float2*>(from + block * 128)[k];
        return make_float2(x.x * scale, x.y * scale);
      };
      const int row = first + (Columns == 64 ? consumer * 64 : 0) + of / 32 * 16;
      const int column = (Columns == 64 ? 0 : consumer * 64) + half * 32;
      store_32_columns(decltype(to){to.data + s64{row} * to.stride[0] + column, {to.stride[0], 1}}, pair,
                       piece.queries - row, columns - column);
#pragma unroll
      for (int block = 0; block < 4; ++block) from[block * 128] = make_float4(0, 0, 0, 0);
    }
    if (Ordered && thread < 2) *sums.rank(number, thread) = 0;
  }
  sync(barrier, Threads);
  if (thread == 0 && last_arriver(sums.rounded(piece.kv_head), piece.pieces)) *sums.added(piece.kv_head) = 0;
}
