//! kernel  scan     "Y[i,j] = output(combination of input(X[i,k]) over k <= j, or k < j): running sums, maxima, minima or a combination of yours, over rows of elements at any stride, such as columns of a matrix, or segments of them"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = f32   in {f32, bf16, f16}      "elements of X"
//! type    O       = f32   in {f32, bf16, f16}      "elements of Y"
//! dim     M               in 0..2147483647
//! dim     N               in 0..2147418112
//!
//! param   OP      = 0     in {0, 2, 3, 5}          "0: sum, 2: maximum, 3: minimum (NaN from the first element that is), 5: combine"
//! param   EXCLUSIVE = 0   in {0, 1}                "0: over k <= j; 1: over k < j, so that a row begins with the neutral element"
//! param   SEGMENTED = 0   in {0, 1}                "1: the combination begins anew where B is not 0"
//! param   ALONG   = 16    in {1, 4, 16, 32}        "threads of a block that share a row"
//! param   UNROLL  = 8     in {2, 4, 8, 16}         "elements of a row that a thread has in flight"
//!
//! let     ACROSS  = ALONG == 1 ? 128 : 32          "rows of a block, which neighbouring threads read"
//! let     THREADS = ALONG * ACROSS
//!
//! tensor  X : T[M, N]
//! tensor  B : u8[M, N]    when SEGMENTED == 1
//! tensor  Y : O[M, N]  out
//! scalar  neutral : f32 = 0                        "combine(x, neutral) and combine(neutral, x) are x"
//!
//! hook    input(f32 x, s32 row, s32 column) : f32 = x  "applied to each element first"
//! hook    combine(f32 a when OP == 5, f32 b when OP == 5) : f32 = 0  "of elements a before elements b; associative"
//! hook    output(f32 y, s32 row, s32 column) : f32 = y  "applied to each result"
//!
//! launch  grid N == 0 ? 0 : ceil_div(M, ACROSS)  block THREADS
//! work    flops M * N  bytes M * N * (sizeof(T) + sizeof(O) + SEGMENTED)
//! reference scan_reference  grid min(M, 65536)  block 256  bits OP != 5 || N <= 1024 ? 0 : N <= 65536 ? 10 : 6 "every step of a combination may round"
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
