#pragma once
// The float64 reference of `reduce`, a block for each result. The including template declares OP.
//
// What the files of the kernel reduce share of their manifests, which `use` this:
//! type    T       = f32   in {f32, bf16, f16}      "elements of X"
//! type    O       = f32   in {f32, bf16, f16}      "elements of Y"
//! dim     K : s64         in 0..4611686018427387904 "of none a sum is 0, a maximum minus infinity, a mean NaN"
//!
//! param   OP      = 0     in {0, 1, 2, 3, 4, 5} asked "0: sum, 1: mean, 2: maximum, 3: minimum (NaN if an element is), 4: sum of squares, 5: combine"
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//!
//! tensor  X : T[M, K, N]
//! tensor  Y : O[M, N]  out
//! scalar  neutral : f32 = 0                        "combine(x, neutral) is x"
//! hook    input(f32 x, s64 m, s64 k, s64 n) : f32 = x  "applied to each element first"
//! hook    combine(f32 a when OP == 5, f32 b when OP == 5) : f32 = 0  "associative and commutative; its neutral element is the scalar"
//! hook    output(f32 y, s64 m, s64 n) : f32 = y    "applied to each result"
//!
//! work    flops M * K * N  bytes M * K * N * sizeof(T) + M * N * sizeof(O)
//! reference reduce_reference  grid min(M * N, 65536)  block 256  bits OP != 5 || K <= 1024 ? 0 : K <= 65536 ? 10 : 6 "every step of a combination may round"
#include "device/ptx/cvt.cuh"
#include "device/reference/row_reduce.cuh"
#include "device/tile/reduce_operation.cuh"

extern "C" __global__ void reduce_reference(View<const T, 3> X, View<f64, 2> Y, f32 neutral, const Dims dims,
                                            const __grid_constant__ Hooks hooks) {
  const Operation<OP, f64, Hooks> op = {hooks, neutral, dims.K};
  for (s64 index = blockIdx.x; index < s64{dims.M} * dims.N; index += gridDim.x) {
    const s64 m = index / dims.N, n = index % dims.N;
    const T* const x = &X.data[m * X.stride[0] + n * X.stride[2]];
    const f64 all = row_reduce(
        dims.K, op.neutral(), [&](s64 k) { return op.element(to_f64(x[k * X.stride[1]]), m, k, n); },
        [&](f64 a, f64 b) { return op.combine(a, b); });
    if (threadIdx.x == 0) Y.data[m * Y.stride[0] + n * Y.stride[1]] = op.result(all, m, n);
  }
}
