#pragma once
// The float64 reference of the scatter_add files. INTO, T, J, Dims and Hooks are the template's.
//
// What the files of the kernel scatter_add share of their manifests, which `use` this:
//! type    T       = bf16  in {f32, bf16, f16}      "elements of S"
//! type    J       = s32   in {s32, s64}            "elements of I"
//! dim     R, COUNT        in 0..2147483647         "rows of D, rows of S"
//! dim     N               in 0..2147400000         "columns"
//!
//! require N <= 1 || stride(S, 1) == 1              "elements of a row of S are neighbours"
//! require N <= 1 || stride(D, 1) == 1              "elements of a row of D are neighbours"
//!
//! tensor  S : T[COUNT, N]
//! tensor  I : J[COUNT]  in 0..R - 1  checked
//! tensor  D : O[R, N]  out
//!
//! hook    input(f32 x, s32 row, s32 column) : f32 = x  "applied to each element of S first"
//!
//! reference scatter_add_reference  grid min(R, 65536)  block 256
#include "device/ptx/cvt.cuh"

#ifdef TMA_JIT_REFERENCE
// One block per row of D.
extern "C" __global__ void scatter_add_reference(View<const T, 2> S, View<const J, 1> I, View<f64, 2> D,
                                                 const Dims dims, const __grid_constant__ Hooks hooks) {
  for (s64 row = blockIdx.x; row < dims.R; row += gridDim.x) {
    for (s64 n = threadIdx.x; n < dims.N; n += blockDim.x) {
      f64& to = D.data[row * D.stride[0] + n * D.stride[1]];
      f64 sum = INTO == 1 ? to : 0.0;
      for (s64 i = 0; i < dims.COUNT; ++i)
        if (I.data[i * I.stride[0]] == row) sum += hooks.input(to_f64(S.data[i * S.stride[0] + n * S.stride[1]]), i, n);
      to = sum;
    }
  }
}
#endif
