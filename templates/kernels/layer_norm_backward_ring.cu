//! kernel  layer_norm_backward "the gradients of Y[i,j] = (X[i,j] - mean) / sqrt(variance + eps) * W[j] + B[j]: DX of X, DW of W and DB of B, from DY of Y; the blocks of a cluster share a row, which they keep in shared memory"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/layer_norm_backward.cuh"
//!
//! let     VECTORS = AFFINE
//! let     LEAST   = device.compute_capability == 90 ? (sizeof(T) == 2 ? 4608 : 4096) : 8192
//! use     "device/reduce/ring_gradient.cuh"

#include "device/ptx/cvt.cuh"
#include "device/reduce/ring_gradient.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

using Gradient = RingGradient<T, THREADS, CLUSTER, PACKS, STAGES, true, AFFINE>;
static_assert(sizeof(Gradient::Smem) <= SMEM);

extern "C" __global__ __launch_bounds__(THREADS + 64, BLOCKS) void layer_norm_backward(
    View<const T, 2> X, View<const T, 1> W, View<const T, 2> DY, View<T, 2> DX, View<G, 1> DW, View<G, 1> DB,
    unsigned char* parts, unsigned char* counters, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  ring_gradient<Gradient, AFFINE>(
      {X, DY, dims.M, dims.N}, W, DX, parts, counters, shared_memory<Gradient::Smem>(), eps,
      [&](f32 dx, int row, int column) { return hooks.output(dx, row, column); },
      [&](int vector, int column, f32 sum) {
        if (vector == 0)
          DW.data[column * DW.stride[0]] = from_f32<G>(sum);
        else
          DB.data[column * DB.stride[0]] = from_f32<G>(sum);
      });
}

#else

#include "device/reference/layer_norm_backward.cuh"

#endif
