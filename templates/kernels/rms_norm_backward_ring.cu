//! kernel  rms_norm_backward "the gradients of Y[i,j] = x[i,j] * r[i] * W[j], r[i] = 1 / sqrt(mean of x[i,:]^2 + eps): DX of X, and DW of W, from DY of Y; the blocks of a cluster share a row, which they keep in shared memory"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/rms_norm_backward.cuh"
//!
//! let     VECTORS = WEIGHT
//! let     LEAST   = device.compute_capability == 90 ? (sizeof(T) == 2 ? 4608 : 4096) : sizeof(T) == 2 ? 16384 : 8192
//! use     "device/reduce/ring_gradient.cuh"

#include "device/ptx/cvt.cuh"
#include "device/reduce/ring_gradient.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

using Gradient = RingGradient<T, THREADS, CLUSTER, PACKS, STAGES, false, WEIGHT>;
static_assert(sizeof(Gradient::Smem) <= SMEM);

extern "C" __global__ __launch_bounds__(THREADS + 64, BLOCKS) void rms_norm_backward(
    View<const T, 2> X, View<const T, 1> W, View<const T, 2> DY, View<T, 2> DX, View<G, 1> DW, unsigned char* parts,
    unsigned char* counters, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  ring_gradient<Gradient, WEIGHT>(
      {X, DY, dims.M, dims.N}, W, DX, parts, counters, shared_memory<Gradient::Smem>(), eps,
      [&](f32 dx, int row, int column) { return hooks.output(dx, row, column); },
      [&](int, int column, f32 sum) { DW.data[column * DW.stride[0]] = from_f32<G>(sum); });
}

#else

#include "device/reference/rms_norm_backward.cuh"

#endif
