#pragma once
// The mean and the variance of a row's elements.
#include "device/reduce/row_passes.cuh"

// (x - origin) * scale is an element less the mean, in units of the standard deviation.
struct RowMoments {
  f32 origin, scale;
  __device__ f32 standardized(f32 x) const { return (x - origin) * scale; }
};

// Of a row of `count` elements, whose variance `eps` is added to. The elements of a Kept row become their distances
// from the mean. The variance is the mean of the squared distances: the difference of two large sums would lose all
// digits where the mean is large, and a pass over a row in registers costs no memory access. Waits for the blocks of a
// cluster. Uses the first two reductions of `smem`.
template <bool Kept, class Row, class Smem, class Read>
__device__ inline RowMoments row_moments(Row& row, Smem& smem, f32 count, f32 eps, Read read) {
  f32 mean = 0, variance = 0;
  first_pass<Kept>(row, read, [&] {
#pragma unroll
    for (const f32 x : row.x) mean += x;
  });
  row.wait_for_cluster();
  mean = __fdividef(row.sum(smem, 0, mean), count);
  next_pass<Kept>(row, read, [&] {
    row.each_pack([&](int p, bool all) {
#pragma unroll
      for (int i = 0; i < Row::kCount; ++i) {
        f32& distance = row.x[p * Row::kCount + i];
        distance = all || row.holds(p, i) ? distance - mean : 0.0F;
        variance += distance * distance;
      }
    });
  });
  variance = __fdividef(row.sum(smem, 1, variance), count);
  return {Kept ? 0.0F : mean, rsqrtf(variance + eps)};
}
