//! kernel  transpose "D[b,j,i] = S[b,i,j], bit for bit, small matrices at any strides and addresses"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/transpose.cuh"
//!
//! param   ROWS    = 8   in {4, 8, 16}              "rows of a tile of 32 by 32 that a block moves at once"
//!
//! let     THREADS = 32 * ROWS
//!
//! require B * M * N <= 1048576                     "what is larger is moved in units of 16 bytes"
//! require B <= 65535 && ceil_div(M, 32) <= 65535   "a grid is that high at most"
//!
//! launch  grid ceil_div(N, 32), ceil_div(M, 32), B  block THREADS

#include "device/reference/transpose.cuh"

#ifndef TMA_JIT_REFERENCE

// Small matrices are in L2 or do not fill the memory's queues: what counts is how soon a block's only loads are under
// way, for which it needs neither tensor maps nor divisions.
extern "C" __global__ __launch_bounds__(THREADS) void transpose(View<const T, 3> S, View<T, 3> D, const Dims dims) {
  constexpr int kTurns = 32 / ROWS, kPerWord = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
  __shared__ T tile[32][32 + kPerWord];  // rows of an odd number of words: columns are read without bank conflicts
  const int across = threadIdx.x % 32, along = threadIdx.x / 32, row = blockIdx.y * 32, column = blockIdx.x * 32;
  const T* const from =
      S.data + blockIdx.z * S.stride[0] + (row + along) * S.stride[1] + (column + across) * S.stride[2];
  T x[kTurns] = {};
#pragma unroll
  for (int i = 0; i < kTurns; ++i)
    if (row + along + i * ROWS < dims.M && column + across < dims.N) x[i] = from[i * ROWS * S.stride[1]];
#pragma unroll
  for (int i = 0; i < kTurns; ++i) tile[along + i * ROWS][across] = x[i];
  __syncthreads();
  T* const to = D.data + blockIdx.z * D.stride[0] + (column + along) * D.stride[1] + (row + across) * D.stride[2];
#pragma unroll
  for (int i = 0; i < kTurns; ++i)
    if (column + along + i * ROWS < dims.N && row + across < dims.M)
      to[i * ROWS * D.stride[1]] = tile[across][along + i * ROWS];
}

#else

extern "C" __global__ void transpose_reference(View<const T, 3> S, View<f64, 3> D, const Dims dims) {
  reference_transpose(S, D, dims.B, dims.M, dims.N);
}

#endif
