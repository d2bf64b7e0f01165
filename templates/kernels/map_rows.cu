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
//! require alignment(X[]) >= VEC && stride(X[], 0) * sizeof(T) % VEC == 0 && stride(X[], 1) == 1 "rows of X[] are read in packs"
//! require alignment(Y) >= OUT && stride(Y, 0) * sizeof(O) % OUT == 0 && stride(Y, 1) == 1 "rows of Y are written in packs"
//!
//! tensor  X[INPUTS] {A, B, C, D} : T[M, N]
//! tensor  Y : O[M, N]  out
//!
//! hook    apply(F a, F b when INPUTS >= 2, F c when INPUTS >= 3, F d when INPUTS >= 4, s64 row, s64 column) : F  "the expression, in a, b, c and d, and where the element lies"
//!
//! launch  grid ceil_div(PACKS, THREADS)  block THREADS
//! work    flops M * N  bytes M * N * (INPUTS * sizeof(T) + sizeof(O))
//! reference map_reference  grid min(ceil_div(M * N, 256), 65536)  block 256  bits sizeof(F) == 4 && sizeof(O) == 8 ? 14 : 0 "an f64 of what was computed in f32"

#include "device/tile/elementwise.cuh"
#include "device/tile/tensor_list.cuh"

// Calls the hook for elements of a row from `column` on.
struct Apply {
  const Hooks& hooks;
  s64 row, column;
  template <class... Inputs> __device__ auto operator()(int i, Inputs... inputs) const {
    return hooks.apply(inputs..., row, column + i);
  }
};

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, 1) void map(const __grid_constant__ TensorList<View<const T, 2>, 4> X,
                                                             View<O, 2> Y, const Dims dims,
                                                             const __grid_constant__ Hooks hooks) {
  const s64 packs = ceil_div<s64>(dims.N, COUNT), index = s64{blockIdx.x} * THREADS + threadIdx.x;
  const s64 row = index / packs, column = index % packs * COUNT;
  if (row >= dims.M) return;
  const int left = static_cast<int>(min(s64{COUNT}, dims.N - column));  // the row may end within the pack
  Pack<T, COUNT> x[INPUTS];
#pragma unroll
  for (int k = 0; k < INPUTS; ++k) x[k] = load_pack<COUNT>(X[k].data + row * X[k].stride[0] + column, left);
  store_pack(Y.data + row * Y.stride[0] + column, applied_to<F, O>(Apply{hooks, row, column}, x), left);
}

#else

extern "C" __global__ void map_reference(const __grid_constant__ TensorList<View<const T, 2>, 4> X, View<f64, 2> Y,
                                         const Dims dims, const __grid_constant__ Hooks hooks) {
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < dims.M * dims.N; i += s64{gridDim.x} * blockDim.x) {
    const s64 row = i / dims.N, column = i % dims.N;
    f64 x[INPUTS];
    for (int k = 0; k < INPUTS; ++k) x[k] = to_f64(X[k].data[row * X[k].stride[0] + column * X[k].stride[1]]);
    Y.data[row * Y.stride[0] + column * Y.stride[1]] = applied<f64>(Apply{hooks, row, column}, 0, x);
  }
}

#endif
