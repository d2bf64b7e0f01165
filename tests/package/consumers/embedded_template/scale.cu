//! kernel  scale  "Y[i] = factor * X[i]"
//! arch    sm_90a, sm_100a, sm_121a
//! dim     N
//! param   THREADS = 256 in {128, 256}
//! tensor  X : f32[N]
//! tensor  Y : f32[N]  out
//! scalar  factor : f32 = 1
//! launch  grid ceil_div(N, THREADS)  block THREADS
//! work    flops N  bytes 8 * N

#include "device/scaling.cuh"

extern "C" __global__ void scale(const View<f32, 1> x, const View<f32, 1> y, const f32 factor, const Dims dims) {
  const int i = static_cast<int>(blockIdx.x) * THREADS + static_cast<int>(threadIdx.x);
  if (i < dims.N) y.data[i * y.stride[0]] = scaled(x.data[i * x.stride[0]], factor);
}
