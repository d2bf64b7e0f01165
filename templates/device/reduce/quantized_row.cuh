#pragma once
// Rows of f32 stored as e4m3 in units of a scale: the greatest magnitude of the elements that share it, divided by 448,
// e4m3's largest number. Magnitudes beyond it become 448. A NaN remains one and does not count for the scale. An
// infinity makes the scale infinite, under which it becomes NaN and finite elements 0.
#include "device/ptx/cvt.cuh"
#include "device/reduce/register_row.cuh"
#include "device/reduce/row_passes.cuh"

struct Scale {
  f32 scale, inverse;  // both 0 where the scale would be below the normal numbers
};

__device__ inline Scale scale_of(f32 greatest) {
  const f32 scale = greatest * (1.0F / 448);
  return scale < 1.17549435e-38F ? Scale{0, 0} : Scale{scale, __fdividef(1, scale)};
}

// What elements in units of a given scale are multiplied by. Under a scale of 0, which zeros have, they are 0.
__device__ inline f32 inverse_of(f32 scale) {
  return scale == 0 ? 0.0F : 1 / scale;
}

// The greatest magnitude of pack p, or of the thread's elements; 0 where there are none.
template <class Row> __device__ inline f32 greatest_magnitude(const Row& row, int p) {
  f32 greatest = 0;
#pragma unroll
  for (int i = 0; i < Row::kCount; ++i) greatest = fmaxf(greatest, fabsf(row.x[p * Row::kCount + i]));
  return greatest;
}
template <class Row> __device__ inline f32 greatest_magnitude(const Row& row) {
  f32 greatest = 0;
#pragma unroll
  for (const f32 x : row.x) greatest = fmaxf(greatest, fabsf(x));
  return greatest;
}

// Stores the row's elements times `inverse`.
template <class Row> __device__ inline void store_scaled(const Row& row, const View<e4m3, 2>& to, f32 inverse) {
  row.store(to, [&](int p) { return [&, p](int i) { return row.x[p * Row::kCount + i] * inverse; }; });
}

// Stores the row's elements in units of a scale for each 128 columns, and those scales. Called by all threads of the
// block; packs begin at column 0, and elements beyond the end of the row are 0.
template <class Row>
__device__ inline void store_groups(const Row& row, const View<e4m3, 2>& to, const View<f32, 2>& scales) {
  constexpr int kLanes = 128 / Row::kCount;  // that hold a group
  static_assert(Row::kStep % 128 == 0);
  row.store(to, [&](int p) {
    const f32 greatest = warp_reduce<kLanes>(greatest_magnitude(row, p), [](f32 a, f32 b) { return fmaxf(a, b); });
    const Scale scale = scale_of(greatest);
    if (threadIdx.x % kLanes == 0 && row.holds(p, 0))
      scales.data[row.row * scales.stride[0] + row.column_of(p, 0) / 128 * scales.stride[1]] = scale.scale;
    return [&, p, scale](int i) { return row.x[p * Row::kCount + i] * scale.inverse; };
  });
}

// Stores the row's elements in units of a scale, as SCALES of the kernels says: 0: `given` holds it; 1: the row has
// one, for which reduction `turn` of `smem` is used; 2: each 128 columns have one. read(last) sets x, once if the row
// is Kept, and else for each part that the threads hold in each pass over the row, of which it says whether it is the
// last.
template <int Scales, bool Kept, class Row, class Smem, class Read>
__device__ inline void store_quantized(Row& row, Smem& smem, int turn, int rows, int columns,
                                       const View<const f32, 1>& given, const View<e4m3, 2>& to,
                                       const View<f32, 2>& scales, Read read) {
  const auto read_last = [&] { read(true); };
  if constexpr (Scales == 2) {
    // As many parts in each thread, because the lanes that share a scale wait for each other.
    for (int first = 0; first < (Kept ? 1 : columns); first += Row::kHeld) {
      read_last();
      store_groups(row, to, scales);
      if (columns - first <= Row::kHeld) break;
      row.advance_parts(1);
    }
  } else if constexpr (Scales == 1) {
    const auto greater = [](f32 a, f32 b) { return fmaxf(a, b); };
    f32 greatest = 0;
    first_pass<Kept>(
        row, [&] { read(Kept); }, [&] { greatest = fmaxf(greatest, greatest_magnitude(row)); });
    const Scale scale = scale_of(row.reduce(smem, turn, greatest, 0.0F, greater));
    if (row.row < rows && row.column <= 0) scales.data[row.row * scales.stride[0]] = scale.scale;
    next_pass<Kept>(row, read_last, [&] { store_scaled(row, to, scale.inverse); });
  } else {
    first_pass<Kept>(row, read_last, [&] { store_scaled(row, to, inverse_of(given.data[0])); });
  }
}
