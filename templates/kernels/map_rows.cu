//! kernel  map      "Y[i,j] = apply(A[i,j], B[i,j], C[i,j], D[i,j]) for one to four inputs, rows at any pitch"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = f32   in {f32, bf16, f16, f64}  "elements of the inputs"
//! type    O      = f32   in {f32, bf16, f16, f64}  "elements of Y"
//! type    F      = f32   in {f32, f64}             "what apply computes in"
//! dim     M, N : s64     in 0..4611686018427387904
//!
//! param   INPUTS = 1     in 1..4
//! param   VEC    = 16    in {16, 8, 4, 2}          "bytes of an input that a thread reads at once"
//! param   THREADS = 256  in {128, 256, 512}
//!
//! let     COUNT  = VEC / sizeof(T)                 "elements of a pack"
//! let     OUT    = min(COUNT * sizeof(O), 16)      "bytes of Y that a thread writes at once"
//! let     PACKS  = M * ceil_div(N, COUNT)          "the last pack of a row may be partial"
//!
//! require VEC >= sizeof(T)                         "a thread reads whole elements"
//! require COUNT * sizeof(O) <= 32                  "a thread writes at most two accesses"
//! require sizeof(T) <= sizeof(F)                   "f64 inputs need f64 arithmetic"
//! require alignment(A) >= VEC && stride(A, 0) * sizeof(T) % VEC == 0 && stride(A, 1) == 1 "rows of A are read in packs"
//! require INPUTS < 2 || (alignment(B) >= VEC && stride(B, 0) * sizeof(T) % VEC == 0 && stride(B, 1) == 1) "rows of B are read in packs"
//! require INPUTS < 3 || (alignment(C) >= VEC && stride(C, 0) * sizeof(T) % VEC == 0 && stride(C, 1) == 1) "rows of C are read in packs"
//! require INPUTS < 4 || (alignment(D) >= VEC && stride(D, 0) * sizeof(T) % VEC == 0 && stride(D, 1) == 1) "rows of D are read in packs"
//! require alignment(Y) >= OUT && stride(Y, 0) * sizeof(O) % OUT == 0 && stride(Y, 1) == 1 "rows of Y are written in packs"
//!
//! tensor  A : T[M, N]
//! tensor  B : T[M, N]  when INPUTS >= 2
//! tensor  C : T[M, N]  when INPUTS >= 3
//! tensor  D : T[M, N]  when INPUTS >= 4
//! tensor  Y : O[M, N]  out
//!
//! hook    apply(F a, F b when INPUTS >= 2, F c when INPUTS >= 3, F d when INPUTS >= 4, s64 row, s64 column) : F  "the expression, in a, b, c and d, and where the element lies"
//!
//! launch  grid ceil_div(PACKS, THREADS)  block THREADS
//! work    flops M * N  bytes M * N * (INPUTS * sizeof(T) + sizeof(O))
//! reference map_reference  grid min(ceil_div(M * N, 256), 65536)  block 256

#include "device/tile/elementwise.cuh"

// Calls the hook for elements of a row from `column` on.
struct Apply {
  const Hooks& hooks;
  s64 row, column;
  template <class... Inputs> __device__ auto operator()(int i, Inputs... inputs) const {
    return hooks.apply(inputs..., row, column + i);
  }
};

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, 1) void map(View<const T, 2> A, View<const T, 2> B, View<const T, 2> C,
                                                             View<const T, 2> D, View<O, 2> Y, const Dims dims,
                                                             const __grid_constant__ Hooks hooks) {
  const s64 packs = ceil_div<s64>(dims.N, COUNT), index = s64{blockIdx.x} * THREADS + threadIdx.x;
  const s64 row = index / packs, column = index % packs * COUNT;
  if (row >= dims.M) return;
  const View<const T, 2> given[4] = {A, B, C, D};
  const int left = static_cast<int>(min(s64{COUNT}, dims.N - column));  // the row may end within the pack
  Pack<T, COUNT> x[INPUTS];
#pragma unroll
  for (int k = 0; k < INPUTS; ++k) x[k] = load_pack<COUNT>(given[k].data + row * given[k].stride[0] + column, left);
  store_pack(Y.data + row * Y.stride[0] + column, applied_to<F, O>(Apply{hooks, row, column}, x), left);
}

#else

extern "C" __global__ void map_reference(View<const T, 2> A, View<const T, 2> B, View<const T, 2> C, View<const T, 2> D,
                                         View<f64, 2> Y, const Dims dims, const __grid_constant__ Hooks hooks) {
  const View<const T, 2> given[4] = {A, B, C, D};
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < dims.M * dims.N; i += s64{gridDim.x} * blockDim.x) {
    const s64 row = i / dims.N, column = i % dims.N;
    f64 x[INPUTS];
    for (int k = 0; k < INPUTS; ++k)
      x[k] = to_f64(given[k].data[row * given[k].stride[0] + column * given[k].stride[1]]);
    Y.data[row * Y.stride[0] + column * Y.stride[1]] = applied<f64>(Apply{hooks, row, column}, 0, x);
  }
}

#endif
