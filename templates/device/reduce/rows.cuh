#pragma once
// Reduces the rows of a matrix, whose elements it reads once, in packs of 16 bytes. A row belongs to lanes of a warp,
// to a block or to several blocks.
#include "device/reduce/aligned_row.cuh"
#include "device/reduce/parts.cuh"

// What is reduced: `rows` rows of `columns` elements, `pitch` elements apart.
template <class T, bool Whole> struct Rows {
  using Row = AlignedRow<T, Whole>;

  const T* data;
  s64 pitch, rows, columns;

  // Row m; outside of the matrix a row without elements.
  __device__ Row row(s64 m) const { return {data + m * pitch, m < rows ? columns : 0}; }
};

// F says how: it has a type Value; neutral() and combine(Value, Value), which is associative and commutative;
// start(row, p), the state of a thread whose first pack is p; and store(m, row, Value), called by one thread for each
// row. A state has add(m, row, p, elements, range), which takes elements of pack p, and total(), a Value.

// Reduces Unroll packs of each of RowCount rows at once by Lanes lanes, and the rest of long rows pack by pack. Called
// by all threads of blocks of Threads, of which each has Threads / Lanes * RowCount rows.
template <int Threads, int Lanes, int Unroll, int RowCount, class T, bool Whole, class F>
__device__ inline void reduce_by_lanes(const Rows<T, Whole>& rows, const F& f) {
  constexpr int kGroups = Threads / Lanes;
  const s64 first = s64{blockIdx.x} * (kGroups * RowCount) + threadIdx.x / Lanes;
  const int lane = threadIdx.x % Lanes;
  Elements<T> x[RowCount][Unroll];
#pragma unroll
  for (int r = 0; r < RowCount; ++r) {
    const AlignedRow<T, Whole> row = rows.row(first + r * kGroups);
#pragma unroll
    for (int u = 0; u < Unroll; ++u) x[r][u] = row.load(lane + u * Lanes);
  }
#pragma unroll
  for (int r = 0; r < RowCount; ++r) {
    const s64 m = first + r * kGroups;
    const AlignedRow<T, Whole> row = rows.row(m);
    auto state = f.start(row, lane);
#pragma unroll
    for (int u = 0; u < Unroll; ++u) state.add(m, row, lane + u * Lanes, x[r][u], row.range(lane + u * Lanes));
    row.template each<1>(Unroll * Lanes + lane, Lanes, Lanes,
                         [&](s64 p, const Elements<T>& pack, PackRange range) { state.add(m, row, p, pack, range); });
    const auto combine = [&](typename F::Value a, typename F::Value b) { return f.combine(a, b); };
    const typename F::Value all = warp_reduce<Lanes>(state.total(), combine);
    if (lane == 0 && m < rows.rows) f.store(m, row, all);
  }
}

// Reduces each row by gridDim.x / rows.rows blocks, which take its tiles of Threads * Unroll packs in turn. `partials`
// has room for a value of each block, `counters` are a row's, as last_arriver wants them; neither is used if a row is
// one block's.
template <int Threads, int Unroll, class T, bool Whole, class F>
__device__ inline void reduce_by_blocks(const Rows<T, Whole>& rows, const F& f, void* partials, void* counters) {
  using Value = typename F::Value;
  __shared__ Value warps[Threads / 32];
  const u32 parts = gridDim.x / static_cast<u32>(rows.rows), m = blockIdx.x / parts, part = blockIdx.x % parts;
  constexpr s64 kTile = Threads * Unroll;
  const s64 first = part * kTile + threadIdx.x;
  const auto combine = [&](Value a, Value b) { return f.combine(a, b); };
  const AlignedRow<T, Whole> row = rows.row(m);
  auto state = f.start(row, first);
  row.template each<Unroll>(first, Threads, parts * kTile, [&](s64 p, const Elements<T>& pack, PackRange range) {
    state.add(m, row, p, pack, range);
  });
  Value all = block_reduce<Threads>(state.total(), warps, f.neutral(), combine);
  Value* const values = static_cast<Value*>(partials) + s64{m} * parts;
  u32* const counter = static_cast<u32*>(counters) + m;
  if (reduce_parts<Threads>(all, values, counter, part, parts, f.neutral(), combine) && threadIdx.x == 0)
    f.store(m, row, all);
}

// Either, as Lanes says: lanes of a warp, or all Threads.
template <int Threads, int Lanes, int Unroll, int RowCount, class T, bool Whole, class F>
__device__ inline void reduce_rows(const Rows<T, Whole>& rows, const F& f, void* partials, void* counters) {
  static_assert(Lanes <= 32 || Lanes == Threads);
  if constexpr (Lanes <= 32)
    reduce_by_lanes<Threads, Lanes, Unroll, RowCount>(rows, f);
  else
    reduce_by_blocks<Threads, Unroll>(rows, f, partials, counters);
}
