#pragma once
// Passes over a row: over the registers that keep it or, where it does not fit into them, over parts of it that are
// read again in each pass. `read` loads what the threads hold of a part into `row`, a RegisterRow.
#include "device/ptx/ex2.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/register_row.cuh"

// Calls read() and then f() for each part of the row that its threads hold at a time, one if the row is Kept.
template <bool Kept, class Row, class Read, class F> __device__ inline void first_pass(Row& row, Read read, F f) {
  const int column = row.column, left = row.left;
  while (true) {
    read();
    f();
    if (Kept || row.left <= Row::kHeld) break;
    row.advance_parts(1);
  }
  row.column = column, row.left = left;
}
// The same for a further pass: a Kept row is not read again.
template <bool Kept, class Row, class Read, class F> __device__ inline void next_pass(Row& row, Read read, F f) {
  if constexpr (Kept)
    f();
  else
    first_pass<false>(row, read, f);
}

// The greatest element x of a row, and the sum of exp2(factor * (x - greatest)), which so neither overflows nor
// vanishes.
struct Exponentials {
  f32 greatest, sum;
};

// Elements beyond the ends of the row are minus infinity. With Replace the elements of a Kept row become their
// exponentials. Waits for the blocks of a cluster.
template <bool Kept, bool Replace = false, class Row, class Smem, class Read>
__device__ inline Exponentials exponentials(Row& row, Smem& smem, f32 factor, Read read) {
  if constexpr (Kept) {
    read();
    row.wait_for_cluster();
    const f32 greatest = row.max(smem, 0);
    f32 sum = 0;
#pragma unroll
    for (f32& x : row.x) {
      const f32 e = ex2((x - greatest) * factor);
      if constexpr (Replace) x = e;
      sum += e;
    }
    return {greatest, row.sum(smem, 1, sum)};
  }
  const f32 none = -infinity();
  f32 greatest = none, sum = 0;
  // Invariant: `sum` is that of the parts before, relative to their greatest element; 0, or NaN, where that is `none`.
  first_pass<Kept>(row, read, [&] {
    f32 greater = greatest;
#pragma unroll
    for (const f32 x : row.x) greater = fmaxf(greater, x);
    const f32 origin = greater == none ? 0.0F : greater;
    sum *= ex2((greatest - origin) * factor);
#pragma unroll
    for (const f32 x : row.x) sum += ex2((x - origin) * factor);
    greatest = greater;
  });
  row.wait_for_cluster();
  const f32 all = row.reduce(smem, 0, greatest, none, [](f32 a, f32 b) { return fmaxf(a, b); });
  return {all, row.sum(smem, 1, sum * ex2((greatest - all) * factor))};
}
