//! kernel  mma_f64  "D = A * B^T by one mma.sync of f64"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! param   ROWS  = 8  in {8, 16}
//! param   DEPTH = 4  in {4, 8, 16}
//! require ROWS == 8 ? DEPTH == 4 : device.compute_capability >= 90  "m8n8k4 everywhere, m16n8k4, k8 and k16 from sm_90 on"
//! tensor  A : f64[ROWS, DEPTH]
//! tensor  B : f64[8, DEPTH]
//! tensor  D : f64[ROWS, 8]  out
//! launch  grid 1  block 32
//! work    flops 2 * ROWS * 8 * DEPTH  bytes 8 * ROWS * 8
//! preset  ROWS = 8, DEPTH = 4    "mma.sync: f64"
//! preset  ROWS = 16, DEPTH = 16  when device.compute_capability >= 90  "mma.sync: f64, 16 x 8 x 16"
//! reference mma_f64_reference  grid 1  block ROWS * 8

#include "device/ptx/mma.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ void mma_f64(View<const f64, 2> A, View<const f64, 2> B, View<f64, 2> D) {
  using Mma = mma::Mma<ROWS, 8, DEPTH, f64, f64, f64>;
  const int g = threadIdx.x / 4, q = threadIdx.x % 4;
  f64 a[Mma::a_registers], b[Mma::b_registers], d[Mma::d_registers] = {};
  constexpr int kHigh = ROWS / 8;  // rows of A in a lane
  for (int i = 0; i < Mma::a_registers; ++i)
    a[i] = A.data[(g + i % kHigh * 8) * A.stride[0] + (q + i / kHigh * 4) * A.stride[1]];
  for (int i = 0; i < Mma::b_registers; ++i) b[i] = B.data[g * B.stride[0] + (q + i * 4) * B.stride[1]];
  Mma::multiply(d, a, b);
  for (int i = 0; i < Mma::d_registers; ++i) D.data[(g + i / 2 * 8) * D.stride[0] + q * 2 + i % 2] = d[i];
}

#else

extern "C" __global__ void mma_f64_reference(View<const f64, 2> A, View<const f64, 2> B, View<f64, 2> D) {
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  f64 sum = 0;
  for (int k = 0; k < DEPTH; ++k) sum += A.data[row * A.stride[0] + k * A.stride[1]] * B.data[column * B.stride[0] + k];
  D.data[row * D.stride[0] + column * D.stride[1]] = sum;
}

#endif
