//! kernel  scale    "Y[i] = finish(alpha * X[i], Z[i])"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = f32 in {f32}
//! dim     N
//!
//! param   THREADS = 256 in {64, 128, 256}   "threads of a block"
//! param   WITH_Z  = 0   in 0..1
//!
//! let     TILE    = THREADS * 4             "elements of a block"
//!
//! require N % 2 == 0                        "elements come in pairs"
//! require TILE <= 512 || N > 100            "small problems take small blocks"
//!
//! tensor  X : T[N]
//! tensor  Z : T[N]  when WITH_Z == 1
//! tensor  Y : T[N]  out
//!
//! scalar  alpha : f32 = 1
//! hook    finish(f32 x, f32 z when WITH_Z == 1) : f32 = x   "the last step"
//!
//! launch  grid ceil_div(N, TILE)  block THREADS
//! work    flops 2 * N  bytes N * (2 + WITH_Z) * sizeof(T)
//! reference scale_reference  grid 1  block 256
//!
//! preset  THREADS = 128                     when N < 1024

// finish takes z only where there is a Z.
template <class C, class... Z> __device__ inline C element(const Hooks& hooks, C x, Z... z) {
  return static_cast<C>(hooks.finish(x, z...));
}

template <class C, class O>
__device__ inline void scale_one(const View<const T, 1>& X, const View<const T, 1>& Z, const View<O, 1>& Y, C alpha,
                                 const Hooks& hooks, int i) {
  const C x = alpha * static_cast<C>(X.data[i * X.stride[0]]);
  O& y = Y.data[i * Y.stride[0]];
  if constexpr (WITH_Z) y = static_cast<O>(element<C>(hooks, x, static_cast<C>(Z.data[i * Z.stride[0]])));
  else y = static_cast<O>(element<C>(hooks, x));
}

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ void scale(View<const T, 1> X, View<const T, 1> Z, View<T, 1> Y, float alpha, const Dims dims,
                                 const __grid_constant__ Hooks hooks) {
  const int first = blockIdx.x * TILE;
  for (int i = first + threadIdx.x; i < dims.N && i < first + TILE; i += THREADS) scale_one<f32>(X, Z, Y, alpha, hooks, i);
}

#else

extern "C" __global__ void scale_reference(View<const T, 1> X, View<const T, 1> Z, View<f64, 1> Y, float alpha,
                                           const Dims dims, const __grid_constant__ Hooks hooks) {
  for (int i = threadIdx.x; i < dims.N; i += blockDim.x) scale_one<f64>(X, Z, Y, static_cast<f64>(alpha), hooks, i);
}

#endif
