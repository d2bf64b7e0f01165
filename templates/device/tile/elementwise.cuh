#pragma once
// Computes one output element, or a pack of them, from the corresponding elements of one to four inputs, with the hook
// `apply`. The including template declares INPUTS and calls the hook.
#include "device/ptx/cvt.cuh"
#include "device/tile/pack.cuh"

// Convert to and from the type in which apply computes: f32, or f64 in a reference and for f64 tensors.
template <class C, class T> __device__ inline C widened(T x) {
  if constexpr (sizeof(C) == 8)
    return to_f64(x);
  else
    return to_f32(x);
}
template <class T, class C> __device__ inline T narrowed(C x) {
  if constexpr (sizeof(T) == 8)
    return x;
  else
    return from_f32<T>(static_cast<f32>(x));
}

// Calls f(i, x[0], ..., x[INPUTS - 1]): the hook has as many parameters as the request gives inputs.
template <class C, int Given = 0, class Hook, class... Inputs>
__device__ inline C applied(const Hook& f, int i, const C* x, Inputs... inputs) {
  if constexpr (Given == INPUTS)
    return f(i, inputs...);
  else
    return applied<C, Given + 1>(f, i, x, inputs..., x[Given]);
}

// Element i of the result is f(i, element i of each input).
template <class C, class O, class T, int Count, class Hook>
__device__ inline Pack<O, Count> applied_to(const Hook& f, const Pack<T, Count> (&in)[INPUTS]) {
  Pack<O, Count> out;
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    C x[INPUTS];
#pragma unroll
    for (int k = 0; k < INPUTS; ++k) x[k] = widened<C>(in[k].x[i]);
    out.x[i] = narrowed<O>(applied<C>(f, i, x));
  }
  return out;
}
