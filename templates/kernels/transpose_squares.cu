//! kernel  transpose "D[b,j,i] = S[b,i,j], bit for bit, small matrices whose rows begin at 16 bytes and are whole units of them"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  2
//! use     "device/reference/transpose.cuh"
//!
//! param   THREADS = 64  in {32, 64, 128}           "of a block"
//!
//! let     SIDE    = 16 / sizeof(T)                 "of a square, which a thread transposes"
//! let     ROWS    = 8 * SIDE                       "rows of S that a warp's squares have"
//! let     COLUMNS = 4 * SIDE                       "and columns: both are read and written in whole 32 bytes"
//! let     WARPS   = B * ceil_div(M, ROWS) * ceil_div(N, COLUMNS)
//!
//! require B * M * N * sizeof(T) <= 8388608         "what is larger is moved by way of shared memory"
//! require M * sizeof(T) % 16 == 0 && N * sizeof(T) % 16 == 0 "rows are whole units of 16 bytes"
//! require stride(S, 2) == 1 && alignment(S) >= 16 && (M <= 1 || stride(S, 1) * sizeof(T) % 16 == 0) && (B <= 1 || stride(S, 0) * sizeof(T) % 16 == 0) "rows of S begin at 16 bytes"
//! require stride(D, 2) == 1 && alignment(D) >= 16 && (N <= 1 || stride(D, 1) * sizeof(T) % 16 == 0) && (B <= 1 || stride(D, 0) * sizeof(T) % 16 == 0) "rows of D begin at 16 bytes"
//!
//! launch  grid ceil_div(WARPS, THREADS / 32)  block THREADS

#include "device/reference/transpose.cuh"
#include "device/tile/register_square.cuh"

#ifndef TMA_JIT_REFERENCE

// Small matrices do not fill the memory's queues: what counts is how soon a thread's only loads are under way.
extern "C" __global__ __launch_bounds__(THREADS) void transpose(View<const T, 3> S, View<T, 3> D, const Dims dims) {
  const u32 across = ceil_div<u32>(dims.N, COLUMNS), down = ceil_div<u32>(dims.M, ROWS);
  const u32 warp = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, strip = warp / across, batch = strip / down;
  const int lane = threadIdx.x % 32, row = (strip - batch * down) * ROWS + lane / 4 * SIDE,
            column = (warp - strip * across) * COLUMNS + lane % 4 * SIDE;
  if (batch >= dims.B || row >= dims.M || column >= dims.N) return;
  const T* const from = S.data + batch * S.stride[0] + row * S.stride[1] + column;
  T* const to = D.data + batch * D.stride[0] + column * D.stride[1] + row;
  RegisterSquare<T> square;
#pragma unroll
  for (int k = 0; k < SIDE; ++k) square.set(k, *reinterpret_cast<const uint4*>(from + k * S.stride[1]));
  square = square.transposed();
#pragma unroll
  for (int k = 0; k < SIDE; ++k) *reinterpret_cast<uint4*>(to + k * D.stride[1]) = square[k];
}

#else

extern "C" __global__ void transpose_reference(View<const T, 3> S, View<f64, 3> D, const Dims dims) {
  reference_transpose(S, D, dims.B, dims.M, dims.N);
}

#endif
