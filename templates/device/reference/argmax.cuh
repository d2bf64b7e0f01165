#pragma once
// The float64 reference of `argmax`.
//
// What the files of the kernel argmax share of their manifests, which `use` this:
//! type    T       = f32   in {f32, bf16, f16}      "elements of X and V"
//! type    J       = s64   in {s64, s32}            "elements of I"
//! dim     M               in 0..2147483647
//! dim     K : s64         in 0..8589934592         "of none the index is -1, the value minus infinity"
//!
//! param   VALUES  = 1     in {0, 1}                "1: there is a V"
//!
//! require sizeof(J) == 8 || K <= 2147483648        "indices must fit into s32"
//!
//! tensor  X : T[M, K]
//! tensor  V : T[M]  out  when VALUES == 1
//! tensor  I : J[M]  out
//!
//! hook    key(f32 x, s64 m, s64 k) : f32 = x       "what elements are compared by"
//!
//! work    flops M * K  bytes M * (K * sizeof(T) + VALUES * sizeof(T) + sizeof(J))
//! reference argmax_reference  grid min(M, 65536)  block 256
#include "device/reference/row_reduce.cuh"

// One block per row: the greatest key, then the least index that has it.
extern "C" __global__ void argmax_reference(View<const T, 2> X, View<f64, 1> V, View<f64, 1> I, const Dims dims,
                                            const __grid_constant__ Hooks hooks) {
  const f64 infinity = __longlong_as_double(0x7ff0000000000000LL);
  for (s64 m = blockIdx.x; m < dims.M; m += gridDim.x) {
    const auto element = [&](s64 k) { return to_f64(X.data[m * X.stride[0] + k * X.stride[1]]); };
    const auto key = [&](s64 k) { return hooks.key(element(k), m, k); };
    const f64 most = row_reduce(dims.K, -infinity, key, [](f64 a, f64 b) { return a > b || a != a ? a : b; });
    const f64 first = row_reduce(
        dims.K, infinity, [&](s64 k) { return key(k) == most || (most != most && key(k) != key(k)) ? k : infinity; },
        [](f64 a, f64 b) { return fmin(a, b); });
    if (threadIdx.x > 0) continue;
    I.data[m * I.stride[0]] = dims.K == 0 ? -1 : first;
    if (VALUES) V.data[m * V.stride[0]] = dims.K == 0 ? -infinity : element(static_cast<s64>(first));
  }
}
