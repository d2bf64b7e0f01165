#pragma once
// The float64 reference of `scan`, a block for each row. The including template declares OP, SEGMENTED, EXCLUSIVE and
// Number, what it combines in, and Given, the type of the scalar `neutral`.
//
// What the files of the kernel scan share of their manifests, which `use` this:
//! type    T       = f32   in {f32, bf16, f16}      "elements of X"
//! type    O       = f32   in {f32, bf16, f16}      "elements of Y"
//! dim     M               in 0..2147483647
//! dim     N               in 0..2147418112
//!
//! param   OP      = 0     in {0, 2, 3, 5} asked    "0: sum, 2: maximum, 3: minimum (NaN from the first element that is), 5: combine"
//! param   EXCLUSIVE = 0   in {0, 1} asked          "0: over k <= j; 1: over k < j, so that a row begins with the neutral element"
//! param   SEGMENTED = 0   in {0, 1}                "1: the combination begins anew where B is not 0"
//!
//! tensor  X : T[M, N]
//! tensor  B : u8[M, N]  when SEGMENTED == 1
//! tensor  Y : O[M, N]  out
//! scalar  neutral : f32 = 0                        "combine(x, neutral) and combine(neutral, x) are x"
//! hook    input(f32 x, s32 row, s32 column) : f32 = x  "applied to each element first"
//! hook    combine(f32 a when OP == 5, f32 b when OP == 5) : f32 = 0  "of elements a before elements b; associative"
//! hook    output(f32 y, s32 row, s32 column) : f32 = y  "applied to each result"
//!
//! work    flops M * N  bytes M * N * (sizeof(T) + sizeof(O) + SEGMENTED)
//! reference scan_reference  grid min(M, 65536)  block 256  bits OP != 5 || N <= 1024 ? 0 : N <= 65536 ? 10 : 6 "every step of a combination may round"
#include "device/tile/scan_operation.cuh"

extern "C" __global__ void scan_reference(View<const T, 2> X, View<const u8, 2> B, View<f64, 2> Y, Given neutral,
                                          const Dims dims, const __grid_constant__ Hooks hooks) {
  using Op = ScanOperation<OP, SEGMENTED != 0, Number, Hooks>;
  const Op op = {hooks, static_cast<Number>(neutral)};
  __shared__ Part<Number> parts[256];
  const int share = ceil_div(dims.N, 256), first = min(s64{share} * threadIdx.x, s64{dims.N}),
            end = min(share, dims.N - first) + first;
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const auto element = [&](s64 j) -> Part<Number> {
      return {op.element(X.data[row * X.stride[0] + j * X.stride[1]], row, j),
              SEGMENTED != 0 && B.data[row * B.stride[0] + j * B.stride[1]] != 0};
    };
    Part<Number> part = op.neutral();
    for (int j = first; j < end; ++j) part = op.joined(part, element(j));
    parts[threadIdx.x] = part;
    __syncthreads();
    Part<Number> before = op.neutral();
    for (int i = 0; i < threadIdx.x; ++i) before = op.joined(before, parts[i]);
    for (int j = first; j < end; ++j) {
      const Number y = op.template next<EXCLUSIVE != 0>(before, element(j));
      Y.data[row * Y.stride[0] + j * Y.stride[1]] = op.template result<f64>(y, row, j);
    }
    __syncthreads();
  }
}
