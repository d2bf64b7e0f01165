//! kernel  activations "D[f, i] = f(S[i]) for the activations that hooks may use"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     N = 4096
//! param   THREADS = 256  in {128, 256}
//! param   APPROX  = 0    in {0, 1}                "1: those by approximations of 11 bits"
//! tensor  S : f32[N]
//! tensor  D : f32[APPROX == 0 ? 5 : 1, N]  out
//! launch  grid ceil_div(N, THREADS)  block THREADS
//! work    flops 50 * N  bytes 24 * N
//! preset  THREADS = 256               "activations"
//! preset  THREADS = 256, APPROX = 1   "activations: of 11 bits"
//! reference activations_reference  grid ceil_div(N, 256)  block 256  bits APPROX == 0 ? 0 : 9

#include "device/tile/activation.cuh"

template <class F, class X> __device__ void apply_each(const View<F, 2>& D, int i, X x) {
  F* const to = D.data + i * D.stride[1];
  if constexpr (APPROX == 1) {
    *to = softcap_approx(x, 3);
  } else {
    const X values[5] = {sigmoid(x), silu(x), gelu(x), gelu_tanh(x), softcap(x, 3)};
#pragma unroll
    for (int f = 0; f < 5; ++f) to[f * D.stride[0]] = values[f];
  }
}

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ void activations(View<const f32, 1> S, View<f32, 2> D, const Dims dims) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < dims.N) apply_each(D, i, S.data[i * S.stride[0]]);
}

#else

extern "C" __global__ void activations_reference(View<const f32, 1> S, View<f64, 2> D, const Dims dims) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < dims.N) apply_each(D, i, f64{S.data[i * S.stride[0]]});
}

#endif
