//! kernel  stmatrix "D[i] = matrix i of S, from the lanes of a warp as stmatrix takes it"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! param   MATRICES = 4  in {1, 2, 4}
//! param   TRANS    = 0  in {0, 1}
//! param   PITCH    = 16 in {16, 80, 128}          "bytes from a matrix's row to the next"
//! tensor  S : u16[MATRICES, 8, 8]
//! tensor  D : u16[MATRICES, 8, 8]  out
//! launch  grid 1  block 32
//! work    flops 0  bytes 256 * MATRICES
//! preset  MATRICES = 1, TRANS = 0  "stmatrix: x1"
//! preset  MATRICES = 2, TRANS = 0  "stmatrix: x2"
//! preset  MATRICES = 4, TRANS = 0  "stmatrix: x4"
//! preset  MATRICES = 4, TRANS = 1  "stmatrix: x4, transposed"
//! reference stmatrix_reference  grid MATRICES  block 64

#include "device/ptx/stmatrix.cuh"

#ifndef TMA_JIT_REFERENCE

template <int Count> __device__ inline void store(u32 row, const u32 (&x)[Count]) {
  if constexpr (Count == 1)
    TRANS == 1 ? mma::stmatrix_x1_trans(row, x[0]) : mma::stmatrix_x1(row, x[0]);
  else if constexpr (Count == 2)
    TRANS == 1 ? mma::stmatrix_x2_trans(row, x[0], x[1]) : mma::stmatrix_x2(row, x[0], x[1]);
  else
    TRANS == 1 ? mma::stmatrix_x4_trans(row, x[0], x[1], x[2], x[3]) : mma::stmatrix_x4(row, x[0], x[1], x[2], x[3]);
}

// Each lane provides the elements of an mma's accumulators: row lane / 4, columns lane % 4 * 2 and the next.
extern "C" __global__ void stmatrix(View<const u16, 3> S, View<u16, 3> D) {
  __shared__ __align__(16) u8 matrices[MATRICES][8][PITCH];
  const int lane = threadIdx.x;
  u32 x[MATRICES];
  for (int i = 0; i < MATRICES; ++i) {
    const u16* from = S.data + i * S.stride[0] + lane / 4 * S.stride[1] + lane % 4 * 2;
    x[i] = from[0] | u32{from[1]} << 16;
  }
  store(smem_address(matrices[lane / 8 % MATRICES][lane % 8]), x);
  __syncwarp();
  for (int i = lane; i < MATRICES * 64; i += 32)
    D.data[i / 64 * D.stride[0] + i / 8 % 8 * D.stride[1] + i % 8] =
        *reinterpret_cast<const u16*>(&matrices[i / 64][i / 8 % 8][i % 8 * 2]);
}

#else

extern "C" __global__ void stmatrix_reference(View<const u16, 3> S, View<f64, 3> D) {
  const int i = blockIdx.x, row = threadIdx.x / 8, column = threadIdx.x % 8;
  const int r = TRANS == 1 ? column : row, c = TRANS == 1 ? row : column;
  D.data[i * D.stride[0] + row * D.stride[1] + column] = S.data[i * S.stride[0] + r * S.stride[1] + c];
}

#endif
