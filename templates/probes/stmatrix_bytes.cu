//! kernel  stmatrix_bytes "D[i] = matrix i of S transposed, from the lanes of a warp as stmatrix of bytes takes it"
//! arch    sm_100a, sm_103a, sm_120a, sm_121a
//! param   MATRICES = 1   in {1, 2, 4}
//! param   PITCH    = 16  in {16, 80}               "bytes from a row of shared memory to the next"
//! tensor  S : u8[MATRICES, 16, 8]
//! tensor  D : u8[MATRICES, 8, 16]  out
//! launch  grid 1  block 32
//! work    flops 0  bytes 256 * MATRICES
//! preset  MATRICES = 1  "stmatrix: bytes"
//! preset  MATRICES = 2  "stmatrix: bytes, x2"
//! preset  MATRICES = 4  "stmatrix: bytes, x4"
//! reference stmatrix_bytes_reference  grid MATRICES  block 128

#include "device/ptx/stmatrix.cuh"

#ifndef TMA_JIT_REFERENCE

template <int Count> __device__ inline void store(u32 row, const u32 (&x)[Count]) {
  if constexpr (Count == 1)
    mma::stmatrix_m16n8_x1_trans(row, x[0]);
  else if constexpr (Count == 2)
    mma::stmatrix_m16n8_x2_trans(row, x[0], x[1]);
  else
    mma::stmatrix_m16n8_x4_trans(row, x[0], x[1], x[2], x[3]);
}

// Each lane provides the elements of an mma's accumulators as bytes: columns 2q and the next of rows g and g + 8.
extern "C" __global__ void stmatrix_bytes(View<const u8, 3> S, View<u8, 3> D) {
  __shared__ __align__(16) u8 matrices[MATRICES][8][PITCH];
  const int lane = threadIdx.x, g = lane / 4, q = lane % 4;
  u32 x[MATRICES] = {};
  for (int i = 0; i < MATRICES; ++i)
    for (int byte = 0; byte < 4; ++byte)
      x[i] |= u32{S.data[i * S.stride[0] + (g + byte / 2 * 8) * S.stride[1] + 2 * q + byte % 2]} << 8 * byte;
  store(smem_address(matrices[lane / 8 % MATRICES][lane % 8]), x);
  __syncwarp();
  for (int i = lane; i < MATRICES * 128; i += 32)
    D.data[i / 128 * D.stride[0] + i / 16 % 8 * D.stride[1] + i % 16] = matrices[i / 128][i / 16 % 8][i % 16];
}

#else

extern "C" __global__ void stmatrix_bytes_reference(View<const u8, 3> S, View<f64, 3> D) {
  const int i = blockIdx.x, row = threadIdx.x / 16, column = threadIdx.x % 16;
  D.data[i * D.stride[0] + row * D.stride[1] + column] = S.data[i * S.stride[0] + column * S.stride[1] + row];
}

#endif
