//! kernel  ldmatrix_bytes "D[i] = matrix i of S, as ldmatrix of bytes, or of packed values of 4 or 6 bits, hands it to a warp"
//! arch    sm_100a, sm_103a, sm_120a, sm_121a
//! param   SQUARE   = 1   in {0, 1}                 "1: m16n16, transposed; 0: m8n16"
//! param   BITS     = 8   in {4, 6, 8}              "of a value in shared memory"
//! param   MATRICES = 1   in {1, 2, 4}
//! param   PITCH    = 16  in {16, 80}               "bytes from a matrix's row to the next"
//! let     ROWS     = SQUARE == 1 ? 16 : 8
//! require SQUARE == 0 || MATRICES <= 2             "m16n16 has x1 and x2"
//! require SQUARE == 1 || BITS < 8                  "m8n16 unpacks values"
//! tensor  S : u8[MATRICES, ROWS, 16]
//! tensor  D : u8[MATRICES, ROWS, 16]  out
//! launch  grid 1  block 32
//! work    flops 0  bytes 512 * MATRICES
//! preset  SQUARE = 1, BITS = 8, MATRICES = 1  "ldmatrix: bytes"
//! preset  SQUARE = 1, BITS = 4, MATRICES = 2  "ldmatrix: 4-bit values, transposed"
//! preset  SQUARE = 0, BITS = 4, MATRICES = 4  "ldmatrix: 4-bit values"
//! preset  SQUARE = 0, BITS = 6, MATRICES = 2  "ldmatrix: 6-bit values"
//! reference ldmatrix_bytes_reference  grid MATRICES  block ROWS * 16

#include "device/probe/operands.cuh"
#include "device/ptx/ldmatrix.cuh"

#ifndef TMA_JIT_REFERENCE

using Format = probe::If<BITS == 4, mma::FromB4, probe::If<BITS == 6, mma::FromB6, mma::Bytes>::type>::type;

template <int Count> __device__ inline auto load(u32 row) {
  if constexpr (SQUARE == 1 && Count == 1)
    return mma::ldmatrix_m16n16_x1_trans<Format>(row);
  else if constexpr (SQUARE == 1)
    return mma::ldmatrix_m16n16_x2_trans<Format>(row);
  else if constexpr (Count == 1)
    return mma::ldmatrix_m8n16_x1<Format>(row);
  else if constexpr (Count == 2)
    return mma::ldmatrix_m8n16_x2<Format>(row);
  else
    return mma::ldmatrix_m8n16_x4<Format>(row);
}

extern "C" __global__ void ldmatrix_bytes(View<const u8, 3> S, View<u8, 3> D) {
  __shared__ __align__(16) u8 matrices[MATRICES][ROWS][PITCH];
  const int lane = threadIdx.x, g = lane / 4, q = lane % 4;
  for (int i = lane; i < MATRICES * ROWS; i += 32) {
    const u8* from = S.data + i / ROWS * S.stride[0] + i % ROWS * S.stride[1];
    probe::pack_row<BITS>(matrices[i / ROWS][i % ROWS], [&](int value) { return from[value]; });
  }
  __syncwarp();
  const auto f = load<MATRICES>(smem_address(matrices[lane / ROWS % MATRICES][lane % ROWS]));
  for (int i = 0; i < MATRICES; ++i) {
    u8* to = D.data + i * D.stride[0];
    for (int byte = 0; byte < 4 * ROWS / 8; ++byte) {
      const u8 value = static_cast<u8>(f.r[i * ROWS / 8 + byte / 4] >> byte % 4 * 8);
      if constexpr (SQUARE == 1)
        to[(4 * q + byte / 4 * 2 + byte % 2) * D.stride[1] + g + byte % 4 / 2 * 8] = value;
      else
        to[g * D.stride[1] + 4 * q + byte] = value;
    }
  }
}

#else

extern "C" __global__ void ldmatrix_bytes_reference(View<const u8, 3> S, View<f64, 3> D) {
  const int i = blockIdx.x, row = threadIdx.x / 16, column = threadIdx.x % 16;
  D.data[i * D.stride[0] + row * D.stride[1] + column] =
      S.data[i * S.stride[0] + row * S.stride[1] + column] & ((1 << BITS) - 1);
}

#endif
