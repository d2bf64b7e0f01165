//! kernel  map      "Y[i] = apply(A[i], B[i], C[i], D[i]) for one to four inputs"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = f32   in {f32, bf16, f16, f64}  "elements of the inputs"
//! type    O      = f32   in {f32, bf16, f16, f64}  "elements of Y"
//! type    F      = f32   in {f32, f64}             "what apply computes in"
//! dim     N : s64        in 0..4611686018427387904
//!
//! param   INPUTS = 1     in 1..4
//! param   VEC    = 16    in {16, 8, 4, 2}          "bytes of an input that a thread reads at once"
//! param   UNROLL = 1     in {1, 2, 4, 8}           "reads of each input in flight in a thread"
//! param   THREADS = 512  in {128, 256, 512}
//!
//! let     COUNT  = VEC / sizeof(T)                 "elements of a pack"
//! let     TILE   = COUNT * UNROLL * THREADS        "elements of a block"
//!
//! require VEC >= sizeof(T)                         "a thread reads whole elements"
//! require COUNT * sizeof(O) <= 32                  "a thread writes at most two accesses"
//! require sizeof(T) <= sizeof(F)                   "f64 inputs need f64 arithmetic"
//! require alignment(X[]) >= VEC                    "packs are read whole"
//! require alignment(Y) >= min(COUNT * sizeof(O), 16)  "packs are written whole"
//! require stride(X[], 0) == 1                      "elements of X[] are neighbours"
//! require stride(Y, 0) == 1                        "elements of Y are neighbours"
//!
//! tensor  X[INPUTS] {A, B, C, D} : T[N]
//! tensor  Y : O[N]  out
//!
//! hook    apply(F a, F b when INPUTS >= 2, F c when INPUTS >= 3, F d when INPUTS >= 4, s64 i) : F  "the expression, in a, b, c and d, and the element's index i"
//!
//! launch  grid ceil_div(N, TILE)  block THREADS
//! work    flops N  bytes N * (INPUTS * sizeof(T) + sizeof(O))
//! reference map_reference  grid min(ceil_div(N, 256), 65536)  block 256  bits sizeof(F) == 4 && sizeof(O) == 8 ? 14 : 0 "an f64 of what was computed in f32"
//!
//! preset  VEC = 16, UNROLL = 1
//! preset  VEC = 8,  UNROLL = 4
//! preset  VEC = 4,  UNROLL = 4
//! preset  VEC = 2,  UNROLL = 4

#include "device/tile/elementwise.cuh"
#include "device/tile/tensor_list.cuh"

// Calls the hook for elements from `at` on.
struct Apply {
  const Hooks& hooks;
  s64 at;
  template <class... Inputs> __device__ auto operator()(int i, Inputs... inputs) const {
    return hooks.apply(inputs..., at + i);
  }
};

#ifndef TMA_JIT_REFERENCE

// Processes a whole tile, from element `first` on: every read of a thread is in flight before the first is used.
__device__ inline void map_tile(const T* const (&in)[INPUTS], O* out, s64 first, const Hooks& hooks) {
  Pack<T, COUNT> x[UNROLL][INPUTS];
#pragma unroll
  for (int u = 0; u < UNROLL; ++u)
#pragma unroll
    for (int k = 0; k < INPUTS; ++k)
      x[u][k] = reinterpret_cast<const Pack<T, COUNT>*>(in[k])[u * THREADS + threadIdx.x];
#pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const int pack = u * THREADS + threadIdx.x;
    reinterpret_cast<Pack<O, COUNT>*>(out)[pack] = applied_to<F, O>(Apply{hooks, first + pack * COUNT}, x[u]);
  }
}

// Processes the last tile, element by element.
__device__ inline void map_rest(const T* const (&in)[INPUTS], O* out, s64 first, int count, const Hooks& hooks) {
  for (int i = threadIdx.x; i < count; i += THREADS) {
    Pack<T, 1> x[INPUTS];
    for (int k = 0; k < INPUTS; ++k) x[k].x[0] = in[k][i];
    out[i] = applied_to<F, O>(Apply{hooks, first + i}, x).x[0];
  }
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void map(const __grid_constant__ TensorList<View<const T, 1>, 4> X,
                                                             View<O, 1> Y, const Dims dims,
                                                             const __grid_constant__ Hooks hooks) {
  const s64 first = s64{blockIdx.x} * TILE;
  const T* in[INPUTS];
#pragma unroll
  for (int k = 0; k < INPUTS; ++k) in[k] = X[k].data + first;
  const s64 rest = dims.N - first;
  if (rest >= TILE)
    map_tile(in, Y.data + first, first, hooks);
  else
    map_rest(in, Y.data + first, first, static_cast<int>(rest), hooks);
}

#else

extern "C" __global__ void map_reference(const __grid_constant__ TensorList<View<const T, 1>, 4> X, View<f64, 1> Y,
                                         const Dims dims, const __grid_constant__ Hooks hooks) {
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < dims.N; i += s64{gridDim.x} * blockDim.x) {
    f64 x[INPUTS];
    for (int k = 0; k < INPUTS; ++k) x[k] = to_f64(X[k].data[i * X[k].stride[0]]);
    Y.data[i * Y.stride[0]] = applied<f64>(Apply{hooks, i}, 0, x);
  }
}

#endif
