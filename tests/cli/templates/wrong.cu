//! kernel  wrong    "Y[i] = X[i] with faults that a check must find"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T     = f32 in {f32}
//! dim     N
//! param   FAULT = 0 in 0..3   "0 none, 1 an element is not written, 2 one is off, 3 one too many is written"
//!
//! tensor  X : T[N]
//! tensor  Y : T[N]  out
//!
//! launch  grid 1  block 128
//! work    flops N  bytes 2 * N * sizeof(T)
//! reference wrong_reference  grid 1  block 128

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ void wrong(View<const T, 1> X, View<T, 1> Y, const Dims dims) {
  for (int i = threadIdx.x; i < dims.N; i += 128) {
    if (FAULT == 1 && i == 5) continue;
    Y.data[i] = X.data[i] + (FAULT == 2 && i == 7 ? 0.5f : 0.0f);
  }
  if (FAULT == 3 && threadIdx.x == 0) Y.data[dims.N] = 1.0f;
}

#else

extern "C" __global__ void wrong_reference(View<const T, 1> X, View<f64, 1> Y, const Dims dims) {
  for (int i = threadIdx.x; i < dims.N; i += 128) Y.data[i] = X.data[i];
}

#endif
