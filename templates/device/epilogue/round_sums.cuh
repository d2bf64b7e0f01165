#pragma once
// The sums of the gradients of queries out to global memory. SHARES is the template's.
#include "device/ptx/acquire.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/reduce/grid.cuh"
#include "device/tile/gradient_item.cuh"
#include "device/tile/query_sums.cuh"
#include "device/tile/store_gradient.cuh"

// Scales, rounds and stores the sums of a piece, and clears them, or where they are Ordered the ranks, which tell the
// steps that no tile has added to. `rows_of(head)` are the sequence's rows of DQ of a
// head; Columns of a step's sums are as many as a head has in shared memory. The Splits of a step are added first to
// last. Called by as many threads as `reader` is for, whole warps, of which this is number `thread`; uses a named
// barrier.
template <int Columns, bool Ordered, int Splits, class Reader, class RowsOf>
__device__ inline void round_sums(const QuerySums& sums, const SumsPiece& piece, f32 scale, int columns,
                                  const RowsOf& rows_of, Reader reader, u32 thread, int barrier) {
  constexpr int kThreads = Reader::kThreads;
  if (thread % 32 == 0) global::await(sums.added(piece.kv_head), 2 * piece.tiles);
  __syncwarp();
  // Items are 32 columns of a share of a step, of the registers of one of its consumer's threads.
  constexpr int kItems = SHARES * kSums / 16, kAcross = Columns / 64, kStep = SHARES / kAcross * 64;
  const u32 end = u32(piece.end - piece.begin) * kItems;
  const auto pack_of = [&](u32 item, int split = 0) {
    const u32 of_splits = Splits == 1 ? item : (item / kItems * Splits + split) * kItems + item % kItems;
    return reinterpret_cast<float4*>(sums.of(piece.begin * Splits, 0)) + u64{of_splits / 128} * 512 + of_splits % 128;
  };
  // Whether a tile has added to a split of an item.
  const auto is_there = [&](u32 item, int split = 0) {
    return !Ordered || (item < end && *sums.rank((piece.begin + item / kItems) * Splits + split, 0) != 0);
  };
  const auto fetch = [&](u32 item) {
    if constexpr (Splits == 1)
      reader.advance(pack_of(item), item < end);
    else
      reader.advance([&](int split) { return pack_of(item, split); }, [&](int split) { return is_there(item, split); },
                     item < end);
  };
  bool next = Splits == 1 && is_there(thread);
  fetch(thread);
#pragma unroll 1
  for (u32 item = thread; item < end; item += kThreads) {
    bool there = next;
    if constexpr (Splits > 1) there = reader.add();
    fetch(item + kThreads);
    const u32 of_all = piece.begin + item / kItems - piece.base, head = of_all / u32(piece.steps);
    if constexpr (Splits == 1) next = is_there(item + kThreads);
    const int share = item / 256 % SHARES, half = item / 128 % 2;
    const int row = (of_all - head * piece.steps) * kStep + share / kAcross * 64 + item % 128 / 32 * 16;
    const int column = share % kAcross * 64 + half * 32;
    const auto pair = [&](int block, int i) {
      const float2 x = reader.pair(block, i);
      return there ? make_float2(x.x * scale, x.y * scale) : make_float2(0, 0);
    };
    auto to = rows_of(head);
    to.data += s64{row} * to.stride[0] + column;
    store_32_columns(to, pair, piece.queries - row, columns - column);
#pragma unroll
    for (int block = 0; block < 4 && !Ordered; ++block) pack_of(item)[block * 128] = make_float4(0, 0, 0, 0);
  }
  reader.finish();
  sync(barrier, kThreads);  // after which none of the ranks is read
  if constexpr (Ordered)
    for (int i = thread; i < (piece.end - piece.begin) * 2 * Splits; i += kThreads)
      sums.rank(piece.begin * Splits, 0)[i] = 0;
  if (thread == 0 && last_arriver(sums.rounded(piece.kv_head), piece.pieces)) *sums.added(piece.kv_head) = 0;
}

// The same as a function object of a kernel; rows_of(piece)(head) are rows of DQ.
template <int Columns, bool Ordered, class RowsOf, int Splits = 1> struct SumsRounder {
  const QuerySums& sums;
  f32 scale;
  int columns;
  const RowsOf& rows_of;

  // A tile's gradients of keys are rounded by the block that makes them.
  template <class Work> __device__ static void made(const Work&) {}
  template <class Reader>
  __device__ void operator()(const SumsPiece& piece, const Reader& reader, int thread, int barrier) const {
    round_sums<Columns, Ordered, Splits>(sums, piece, scale, columns, rows_of(piece), reader, thread, barrier);
  }
};
