//! kernel  scan     "Y[i,j] = output(combination of input(X[i,k]) over k <= j, or k < j): running sums, maxima, minima or a combination of yours, over rows of elements at any stride, such as columns of a matrix, or segments of them"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/scan.cuh"
//!
//! param   ALONG   = 16    in {1, 4, 16, 32}        "threads of a block that share a row"
//! param   UNROLL  = 8     in {2, 4, 8, 16}         "elements of a row that a thread has in flight"
//!
//! let     ACROSS  = ALONG == 1 ? 128 : 32          "rows of a block, which neighbouring threads read"
//! let     THREADS = ALONG * ACROSS
//!
//! launch  grid N == 0 ? 0 : ceil_div(M, ACROSS)  block THREADS
//!
//! preset  ALONG = 1    when N <= 8
//! preset  ALONG = 4    when N <= 64
//! preset  ALONG = 16

#include "device/ptx/cvt.cuh"
#include "device/tile/scan_operation.cuh"

#ifndef TMA_JIT_REFERENCE

// The threads of a row hold UNROLL of its elements each at a time, read before any of them is stored: Y may be X.
extern "C" __global__ __launch_bounds__(THREADS) void scan(View<const T, 2> X, View<const u8, 2> B, View<O, 2> Y,
                                                           f32 neutral, const Dims dims,
                                                           const __grid_constant__ Hooks hooks) {
  using Op = ScanOperation<OP, SEGMENTED != 0, f32, Hooks>;
  __shared__ Part<f32> parts[2][ALONG][ACROSS];
  const Op op = {hooks, neutral};
  const int across = threadIdx.x % ACROSS, along = threadIdx.x / ACROSS;
  const s64 row = s64{blockIdx.x} * ACROSS + across;
  Part<f32> all = op.neutral();
  // Invariant: `all` is what precedes element `first` of the row.
  for (s64 first = 0, turn = 0; first < dims.N; first += ALONG * UNROLL, turn ^= 1) {
    const s64 begin = first + along * UNROLL;
    const int left = row < dims.M ? static_cast<int>(min(s64{UNROLL}, dims.N - begin)) : 0;
    T x[UNROLL] = {};
    bool begins[UNROLL] = {};
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      if (u >= left) continue;
      x[u] = X.data[row * X.stride[0] + (begin + u) * X.stride[1]];
      if constexpr (SEGMENTED != 0) begins[u] = B.data[row * B.stride[0] + (begin + u) * B.stride[1]] != 0;
    }
    const auto element = [&](int u) -> Part<f32> {
      if (u >= left) return op.neutral();
      return {op.element(x[u], row, begin + u), begins[u]};
    };
    Part<f32> part = element(0);
#pragma unroll
    for (int u = 1; u < UNROLL; ++u) part = op.joined(part, element(u));
    parts[turn][along][across] = part;
    __syncthreads();  // the other half is written only after the next barrier, which follows all reads of it
    Part<f32> before = all;
#pragma unroll
    for (int a = 0; a < ALONG; ++a) {
      if (a == along) before = all;
      all = op.joined(all, parts[turn][a][across]);
    }
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const f32 y = op.template next<EXCLUSIVE != 0>(before, element(u));
      if (u < left) Y.data[row * Y.stride[0] + (begin + u) * Y.stride[1]] = op.template result<O>(y, row, begin + u);
    }
  }
}

#else

using Number = f64;
using Given = f32;
#include "device/reference/scan.cuh"

#endif
