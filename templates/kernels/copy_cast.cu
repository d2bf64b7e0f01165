//! kernel  copy     "D[i] = S[i] as an element of another type"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  -1
//!
//! type    T       = f32   in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2} "elements of S"
//! type    O       = bf16  in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2} "elements of D: integers of the same or another size keep their low bits, floating-point numbers are rounded, towards 0 if to integers"
//! dim     N : s64         in 0..576460752303423488
//!
//! param   COUNT   = 8     in {8, 4, 2, 1}          "elements of a thread, read and written at once"
//! param   THREADS = 256   in {128, 256, 512}
//!
//! require stride(S, 0) == 1 && stride(D, 0) == 1   "the elements must be neighbours"
//! require alignment(S) >= min(16, COUNT * sizeof(T)) && alignment(D) >= min(16, COUNT * sizeof(O)) "elements that are moved at once begin at a multiple of their bytes"
//!
//! tensor  S : T[N]
//! tensor  D : O[N]  out
//!
//! launch  grid ceil_div(N, COUNT * THREADS)  block THREADS
//! work    flops 0  bytes N * (sizeof(T) + sizeof(O))
//! reference copy_reference  grid min(ceil_div(N, 256), 65536)  block 256
//!
//! preset  COUNT = 8
//! preset  COUNT = 4
//! preset  COUNT = 2
//! preset  COUNT = 1

#include "device/tile/element_of.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS) void copy(View<const T, 1> S, View<O, 1> D, const Dims dims) {
  const s64 first = (s64{blockIdx.x} * THREADS + threadIdx.x) * COUNT, left = dims.N - first;
  if (left >= COUNT) {
    store_whole_pack(D.data + first, cast<O>(load_whole_pack<COUNT>(S.data + first)));
  } else {
    for (s64 i = 0; i < left; ++i) D.data[first + i] = cast<O>(S.data[first + i]);
  }
}

#else

extern "C" __global__ void copy_reference(View<const T, 1> S, View<f64, 1> D, const Dims dims) {
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < dims.N; i += s64{gridDim.x} * blockDim.x)
    D.data[i * D.stride[0]] = exact_cast<O>(S.data[i * S.stride[0]]);
}

#endif
