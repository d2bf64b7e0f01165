#pragma once
// What the references of kernels that store e4m3 in units of scales share.
#include "device/ptx/cvt.cuh"
#include "device/reference/row_reduce.cuh"

// x in units of a scale, at most e4m3's largest number; 0 if the scale is, and NaN if x is.
__device__ inline f64 quantized(f64 x, f64 scale) {
  const f64 q = scale == 0 ? x * 0 : x / scale;
  return q > 448 ? 448 : q < -448 ? -448 : q;
}

// Stores x(j) for j in 0..count - 1 as row `row` of Q. Scales is 0: `given` holds the scale; 1: the row has one; 2:
// each 128 columns have one. Called by all threads of a block of 256.
template <int Scales, class X>
__device__ inline void quantize_row(s64 row, s64 count, X x, const View<const f32, 1>& given, const View<f64, 2>& Q,
                                    const View<f64, 2>& scales) {
  const s64 width = Scales == 2 ? 128 : count;
  for (s64 first = 0, group = 0; group == 0 || first < count; first += width, ++group) {
    const s64 columns = min(width, count - first);
    f64 scale = Scales == 0 ? to_f64(given.data[0]) : row_max(columns, [&](s64 j) { return fabs(x(first + j)); }) / 448;
    if (Scales == 1 || (Scales == 2 && columns > 0)) {
      if (threadIdx.x == 0) scales.data[row * scales.stride[0] + group * scales.stride[1]] = scale;
    }
    for (s64 j = first + threadIdx.x; j < first + columns; j += 256)
      Q.data[row * Q.stride[0] + j * Q.stride[1]] = quantized(x(j), static_cast<f32>(scale));  // as it is stored
  }
}
