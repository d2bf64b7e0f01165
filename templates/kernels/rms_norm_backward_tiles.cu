//! kernel  rms_norm_backward "the gradients of Y[i,j] = x[i,j] * r[i] * W[j], r[i] = 1 / sqrt(mean of x[i,:]^2 + eps): DX of X, and DW of W, from DY of Y; many blocks share a row, which they read twice"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/rms_norm_backward.cuh"
//!
//! let     VECTORS = WEIGHT
//! use     "device/reduce/tiled_gradient.cuh"
//!
//! preset  AT_ONCE = 4, BLOCKS = 3, WHOLE = 1
//! preset  BLOCKS = 3, WHOLE = 0  when sizeof(T) == 4
//! preset  BLOCKS = 2, WHOLE = 0

#include "device/ptx/cvt.cuh"
#include "device/reduce/tiled_gradient.cuh"

#ifndef TMA_JIT_REFERENCE

using Gradient = TiledGradient<T, THREADS, PACKS, ROWS, AT_ONCE, WHOLE, false, WEIGHT>;

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void rms_norm_backward(
    View<const T, 2> X, View<const T, 1> W, View<const T, 2> DY, View<T, 2> DX, View<G, 1> DW, unsigned char* sums,
    unsigned char* parts, unsigned char* counters, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  __shared__ Gradient::Smem smem;
  tiled_gradient<Gradient, WEIGHT, THREADS, ROWS>(
      {X, DY, dims.M, dims.N}, W, DX, {sums, parts, counters}, smem, eps,
      [&](f32 dx, int row, int column) { return hooks.output(dx, row, column); },
      [&](int, s64 column, f32 sum) { DW.data[column * DW.stride[0]] = from_f32<G>(sum); });
}

#else

#include "device/reference/rms_norm_backward.cuh"

#endif
