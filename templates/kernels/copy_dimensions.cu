//! kernel  copy     "D[i,j,k,l,m] = S[i,j,k,l,m], bit for bit or as an element of another type, at any strides; a stride of 0 broadcasts"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = f32   in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2} "elements of S"
//! type    O       = f32   in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2} "elements of D: integers of the same or another size keep their low bits, floating-point numbers are rounded, towards 0 if to integers"
//! dim     N0, N1, N2, N3, N4 in 0..2147483647      "1 for dimensions that the tensors lack"
//!
//! param   COUNT   = 8     in {16, 8, 4, 2, 1}      "elements of a row that a thread moves; at once where their addresses allow it"
//! param   THREADS = 256   in {128, 256, 512}
//!
//! let     PACKS   = N0 * N1 * N2 * N3 * ceil_div(N4, COUNT) "the last one of a row may be partial"
//!
//! require ceil_div(PACKS, THREADS) <= 2147483647   "blocks are counted in 31 bits"
//!
//! tensor  S : T[N0, N1, N2, N3, N4]
//! tensor  D : O[N0, N1, N2, N3, N4]  out
//!
//! launch  grid ceil_div(PACKS, THREADS)  block THREADS
//! work    flops 0  bytes N0 * N1 * N2 * N3 * N4 * (sizeof(T) + sizeof(O))
//! reference copy_reference  grid min(ceil_div(N0 * N1 * N2 * N3 * N4, 256), 65536)  block 256
//!
//! preset  COUNT = 16  when max(sizeof(T), sizeof(O)) == 1 && N4 >= 16
//! preset  COUNT = 8   when max(sizeof(T), sizeof(O)) <= 4 && N4 >= 8
//! preset  COUNT = 4   when N4 >= 4
//! preset  COUNT = 1

#include "device/tile/element_of.cuh"
#include "device/tile/place.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS) void copy(View<const T, 5> S, View<O, 5> D, const Dims dims) {
  const s64 index = s64{blockIdx.x} * THREADS + threadIdx.x;
  if (index >= s64{dims.N0} * dims.N1 * dims.N2 * dims.N3 * ceil_div(dims.N4, COUNT)) return;
  const Place place = Place::of<COUNT>(index, {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4});
  const int left = dims.N4 - place.at[4];
  place.store<COUNT>(D, cast<O>(place.load<COUNT>(S, left)), left);
}

#else

extern "C" __global__ void copy_reference(View<const T, 5> S, View<f64, 5> D, const Dims dims) {
  const s64 count = s64{dims.N0} * dims.N1 * dims.N2 * dims.N3 * dims.N4;
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += s64{gridDim.x} * blockDim.x) {
    const Place place = Place::of<1>(i, {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4});
    *place.in(D) = exact_cast<O>(*place.in(S));
  }
}

#endif
