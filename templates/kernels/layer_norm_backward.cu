//! kernel  layer_norm_backward "the gradients of Y[i,j] = (X[i,j] - mean) / sqrt(variance + eps) * W[j] + B[j]: DX of X, DW of W and DB of B, from DY of Y"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/layer_norm_backward.cuh"
//!
//! let     VECTORS = AFFINE
//! use     "device/reduce/register_gradient.cuh"
//!
//! require PACKS * COUNT <= 16 || (PACKS * COUNT <= 32 && BLOCKS * THREADS <= 384) "what a thread holds and adds up must fit into registers"
//! require WHOLE > 0 || sizeof(T) == 4 || BLOCKS * THREADS <= 512 "ragged rows of 16-bit elements take more registers than 64 a thread"
//!
//! preset  WHOLE = 1, LANES = 4, THREADS = 256, PACKS = 1, BLOCKS = 2
//! preset  WHOLE = 1, LANES = 4, THREADS = 128, PACKS = 2, BLOCKS = 4  when sizeof(T) == 2
//! preset  WHOLE = 1, LANES = 16, THREADS = 128, PACKS = 1, BLOCKS = 2  when sizeof(T) == 2 && M <= device.sm_count * 16
//! preset  WHOLE = 1, LANES = 16, THREADS = 256, PACKS = 1, BLOCKS = 4, AHEAD = 0  when sizeof(T) == 2
//! preset  WHOLE = 1, LANES = 16, THREADS = 256, PACKS = 1, BLOCKS = 4  when sizeof(T) == 4
//! preset  WHOLE = 1, LANES = 16, THREADS = 256, PACKS = 2, BLOCKS = 2  when sizeof(T) == 4
//! preset  WHOLE = 1, LANES = 8, THREADS = 128, PACKS = 3, BLOCKS = 3  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 1, LANES = 16, THREADS = 128, PACKS = 2, BLOCKS = 4  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 1, LANES = 16, THREADS = 128, PACKS = 3, BLOCKS = 3  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 1, LANES = 32, THREADS = 256, PACKS = 2, BLOCKS = 2
//! preset  WHOLE = 1, LANES = 32, THREADS = 128, PACKS = 3, BLOCKS = 3  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 1, LANES = 32, THREADS = 256, PACKS = 4, BLOCKS = 2, AHEAD = 0  when sizeof(T) == 4
//! preset  WHOLE = 1, LANES = 32, THREADS = 128, PACKS = 4, BLOCKS = 2  when sizeof(T) == 2
//! preset  WHOLE = 1, LANES = 64, THREADS = 64, PACKS = 3, BLOCKS = 6  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 1, LANES = 128, THREADS = 128, PACKS = 2, BLOCKS = 4
//! preset  WHOLE = 1, LANES = 96, THREADS = 96, PACKS = 3, BLOCKS = 4  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 1, LANES = 128, THREADS = 128, PACKS = 3, BLOCKS = 3  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 1, LANES = 256, THREADS = 256, PACKS = 2, BLOCKS = 2
//! preset  WHOLE = 1, LANES = 192, THREADS = 192, PACKS = 3, BLOCKS = 2  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 1, LANES = 512, THREADS = 512, PACKS = 2, BLOCKS = 1
//! preset  WHOLE = 1, LANES = 512, THREADS = 512, PACKS = 4, BLOCKS = 1, AHEAD = 0  when sizeof(T) == 4
//! preset  WHOLE = 2, LANES = 4, THREADS = 256, PACKS = 1, BLOCKS = 2
//! preset  WHOLE = 2, LANES = 4, THREADS = 128, PACKS = 3, BLOCKS = 3  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 16, THREADS = 256, PACKS = 1, BLOCKS = 2
//! preset  WHOLE = 2, LANES = 8, THREADS = 128, PACKS = 3, BLOCKS = 3  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 16, THREADS = 128, PACKS = 2, BLOCKS = 3  when sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 16, THREADS = 128, PACKS = 2, BLOCKS = 4  when sizeof(T) == 4
//! preset  WHOLE = 2, LANES = 16, THREADS = 128, PACKS = 3, BLOCKS = 3  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 16, THREADS = 128, PACKS = 4, BLOCKS = 2  when sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 32, THREADS = 128, PACKS = 3, BLOCKS = 3  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 32, THREADS = 128, PACKS = 3, BLOCKS = 2  when sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 32, THREADS = 128, PACKS = 4, BLOCKS = 2  when sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 32, THREADS = 256, PACKS = 2, BLOCKS = 2  when sizeof(T) == 4
//! preset  WHOLE = 2, LANES = 32, THREADS = 256, PACKS = 4, BLOCKS = 2, AHEAD = 0  when sizeof(T) == 4
//! preset  WHOLE = 2, LANES = 128, THREADS = 128, PACKS = 2, BLOCKS = 4  when sizeof(T) == 4
//! preset  WHOLE = 2, LANES = 64, THREADS = 64, PACKS = 3, BLOCKS = 6  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 96, THREADS = 96, PACKS = 3, BLOCKS = 4  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 128, THREADS = 128, PACKS = 3, BLOCKS = 3  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 128, THREADS = 128, PACKS = 2, BLOCKS = 2  when sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 128, THREADS = 128, PACKS = 3, BLOCKS = 2  when sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 128, THREADS = 128, PACKS = 4, BLOCKS = 2  when sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 192, THREADS = 192, PACKS = 3, BLOCKS = 2  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 256, THREADS = 256, PACKS = 3, BLOCKS = 1  when sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 256, THREADS = 256, PACKS = 4, BLOCKS = 1  when sizeof(T) == 2
//! preset  WHOLE = 2, LANES = 256, THREADS = 256, PACKS = 2, BLOCKS = 2  when sizeof(T) == 4
//! preset  WHOLE = 2, LANES = 256, THREADS = 256, PACKS = 3, BLOCKS = 2  when sizeof(T) == 4
//! preset  WHOLE = 2, LANES = 512, THREADS = 512, PACKS = 3, BLOCKS = 1  when sizeof(T) == 4
//! preset  WHOLE = 2, LANES = 512, THREADS = 512, PACKS = 4, BLOCKS = 1, AHEAD = 0  when sizeof(T) == 4
//! preset  WHOLE = 0, LANES = 16, THREADS = 256, PACKS = 1, BLOCKS = 2
//! preset  WHOLE = 0, LANES = 32, THREADS = 256, PACKS = 2, BLOCKS = 2
//! preset  WHOLE = 0, LANES = 128, THREADS = 128, PACKS = 2, BLOCKS = 4
//! preset  WHOLE = 0, LANES = 512, THREADS = 512, PACKS = 2, BLOCKS = 1  when sizeof(T) == 2
//! preset  WHOLE = 0, LANES = 512, THREADS = 512, PACKS = 4, BLOCKS = 1, AHEAD = 0  when sizeof(T) == 4

#include "device/ptx/cvt.cuh"
#include "device/reduce/register_gradient.cuh"

#ifndef TMA_JIT_REFERENCE

using Gradient = RegisterGradient<T, THREADS, LANES, PACKS, AHEAD, BLOCKS, WHOLE, true, AFFINE>;

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void layer_norm_backward(
    View<const T, 2> X, View<const T, 1> W, View<const T, 2> DY, View<T, 2> DX, View<G, 1> DW, View<G, 1> DB,
    unsigned char* parts, unsigned char* counters, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  __shared__ Gradient::Smem smem;
  Gradient::Columns columns(parts, counters);
  const Gradient::Matrices matrices = {X, DY, W, dims.M, dims.N};
  Gradient gradient(matrices, columns, smem);
  gradient.run(DX, eps, [&](f32 dx, int row, int column) { return hooks.output(dx, row, column); });
  if constexpr (AFFINE > 0) {
    gradient.finish([&](int vector, int column, f32 sum) {
      if (vector == 0)
        DW.data[column * DW.stride[0]] = from_f32<G>(sum);
      else
        DB.data[column * DB.stride[0]] = from_f32<G>(sum);
    });
  }
}

#else

#include "device/reference/layer_norm_backward.cuh"

#endif
