#pragma once
// The float64 reference of `scatter`, and the numbers of its rows.
//
// What the files of the kernel scatter share of their manifests, which `use` this:
//! type    T      = f32   in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! type    J      = s32   in {s32, s64}             "elements of I"
//! dim     R, N, COUNT    in 0..2147483647          "rows of D, columns, rows of S"
//!
//! param   UNIQUE  = 0    in {0, 1} asked           "1: the caller knows that no row has two numbers, so that none are searched for; else it is not said which of the rows comes last"
//! param   NEIGHBOURS = 1 in {1, 0}                 "0: elements at any stride, moved one by one"
//!
//! require NEIGHBOURS == 0 || N <= 1 || (stride(S, 1) == 1 && stride(D, 1) == 1) "elements that move together must be neighbours"
//!
//! tensor  S : T[COUNT, N]
//! tensor  I : J[COUNT]  in 0..R - 1  distinct UNIQUE  checked
//! tensor  D : T[R, N]  out
//!
//! work    flops 0  bytes 2 * COUNT * N * sizeof(T) + COUNT * sizeof(J)
//! reference scatter_reference  grid min(R, 65536)  block 256
#include "device/ptx/cvt.cuh"
#include "device/reference/row_reduce.cuh"

// The row of D to which row i of S goes; -1 if none.
__device__ inline int row_of(const View<const J, 1>& I, s64 i, const Dims& dims) {
  const s64 row = i < dims.COUNT ? I.data[i * I.stride[0]] : -1;
  return row >= 0 && row < dims.R ? static_cast<int>(row) : -1;
}

#ifdef TMA_JIT_REFERENCE

// One block per row of D. An integer that the caller did not write has all bits set, for which its f64 holds NaN.
extern "C" __global__ void scatter_reference(View<const T, 2> S, View<const J, 1> I, View<f64, 2> D, const Dims dims) {
  const u64 ones = ~u64{0};
  const f64 unwritten = to_f64(*reinterpret_cast<const T*>(&ones));
  for (s64 row = blockIdx.x; row < dims.R; row += gridDim.x) {
    const s64 last = row_reduce(
        dims.COUNT, -1, [&](s64 i) { return I.data[i * I.stride[0]] == row ? f64(i) : -1; },
        [](f64 a, f64 b) { return fmax(a, b); });
    for (s64 n = threadIdx.x; n < dims.N; n += blockDim.x) {
      f64& to = D.data[row * D.stride[0] + n * D.stride[1]];
      if (last >= 0)
        to = to_f64(S.data[last * S.stride[0] + n * S.stride[1]]);
      else if (to != to)
        to = unwritten;
    }
  }
}

#endif
