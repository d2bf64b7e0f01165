//! kernel  ldmatrix "D[i] = matrix i of S, as ldmatrix hands it to the lanes of a warp"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! param   MATRICES = 4  in {1, 2, 4}
//! param   TRANS    = 0  in {0, 1}
//! param   PITCH    = 16 in {16, 80, 128}          "bytes from a matrix's row to the next"
//! tensor  S : u16[MATRICES, 8, 8]
//! tensor  D : u16[MATRICES, 8, 8]  out
//! launch  grid 1  block 32
//! work    flops 0  bytes 256 * MATRICES
//! preset  MATRICES = 1, TRANS = 0  "ldmatrix: x1"
//! preset  MATRICES = 2, TRANS = 0  "ldmatrix: x2"
//! preset  MATRICES = 4, TRANS = 0  "ldmatrix: x4"
//! preset  MATRICES = 4, TRANS = 1  "ldmatrix: x4, transposed"
//! reference ldmatrix_reference  grid MATRICES  block 64

#include "device/ptx/ldmatrix.cuh"

#ifndef TMA_JIT_REFERENCE

template <int Count> __device__ inline mma::Matrices<Count> load(u32 row) {
  if constexpr (Count == 1)
    return TRANS == 1 ? mma::ldmatrix_x1_trans(row) : mma::ldmatrix_x1(row);
  else if constexpr (Count == 2)
    return TRANS == 1 ? mma::ldmatrix_x2_trans(row) : mma::ldmatrix_x2(row);
  else
    return TRANS == 1 ? mma::ldmatrix_x4_trans(row) : mma::ldmatrix_x4(row);
}

// Each lane writes its elements to their position in the fragment of an mma: row lane / 4, columns lane % 4 * 2 and the
// next.
extern "C" __global__ void ldmatrix(View<const u16, 3> S, View<u16, 3> D) {
  __shared__ __align__(16) u8 matrices[MATRICES][8][PITCH];
  const int lane = threadIdx.x;
  for (int i = lane; i < MATRICES * 64; i += 32)
    *reinterpret_cast<u16*>(&matrices[i / 64][i / 8 % 8][i % 8 * 2]) =
        S.data[i / 64 * S.stride[0] + i / 8 % 8 * S.stride[1] + i % 8];
  __syncwarp();
  const mma::Matrices<MATRICES> f = load<MATRICES>(smem_address(matrices[lane / 8 % MATRICES][lane % 8]));
  for (int i = 0; i < MATRICES; ++i)
    for (int half = 0; half < 2; ++half)
      D.data[i * D.stride[0] + lane / 4 * D.stride[1] + lane % 4 * 2 + half] = static_cast<u16>(f.r[i] >> 16 * half);
}

#else

extern "C" __global__ void ldmatrix_reference(View<const u16, 3> S, View<f64, 3> D) {
  const int i = blockIdx.x, row = threadIdx.x / 8, column = threadIdx.x % 8;
  const int r = TRANS == 1 ? column : row, c = TRANS == 1 ? row : column;
  D.data[i * D.stride[0] + row * D.stride[1] + column] = S.data[i * S.stride[0] + r * S.stride[1] + c];
}

#endif
