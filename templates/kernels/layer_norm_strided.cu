//! kernel  layer_norm "Y[i,j] = output((x[i,j] - mean) / sqrt(variance + eps) * W[j] + B[j]), x = input(X[i,j]), mean and variance of x[i,:]; rows of elements at any stride, such as columns of a matrix"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  -1
//! use     "device/reference/layer_norm.cuh"
//! use     "device/reduce/strided_row.cuh"
//!
//! preset  ROWS = 1                  when stride(X, 0) >= stride(X, 1) && N > 128
//! preset  ROWS = 1, THREADS = 128   when stride(X, 0) >= stride(X, 1)
//! preset  ROWS = 32
//! preset  ROWS = 32, THREADS = 128  when N <= 64

#include "device/ptx/cvt.cuh"
#include "device/reduce/strided_row.cuh"

#ifndef TMA_JIT_REFERENCE

// A thread stores only what it has read: Y and S may be X, and S what the hook reads.
extern "C" __global__ __launch_bounds__(THREADS, 1) void layer_norm(View<const T, 2> X, View<const T, 1> W,
                                                                    View<const T, 1> B, View<O, 2> Y, View<T, 2> S,
                                                                    f32 eps, const Dims dims,
                                                                    const __grid_constant__ Hooks hooks) {
  using Row = StridedRow<THREADS, ROWS>;
  __shared__ Row::Smem smem[2];
  const Row row(dims.M, dims.N);
  const auto read = [&](int j) {
    return hooks.input(to_f32(X.data[row.row * X.stride[0] + j * X.stride[1]]), row.row, j);
  };
  const f32 count = static_cast<f32>(dims.N);
  const f32 mean = row.sum(smem[0], read, [](f32 x) { return x; }) / count;
  const f32 squares = row.sum(smem[1], read, [&](f32 x) { return (x - mean) * (x - mean); });
  const f32 scale = rsqrtf(squares / count + eps);
  row.each(read, [&](f32 x, int j) {
    if constexpr (SUM) S.data[row.row * S.stride[0] + j * S.stride[1]] = from_f32<T>(x);
    f32 y = (x - mean) * scale;
    if constexpr (AFFINE >= 1) y *= to_f32(W.data[j * W.stride[0]]);
    if constexpr (AFFINE >= 2) y += to_f32(B.data[j * B.stride[0]]);
    Y.data[row.row * Y.stride[0] + j * Y.stride[1]] = from_f32<O>(hooks.output(y, row.row, j));
  });
}

#else

#include "device/reference/layer_norm.cuh"

#endif
