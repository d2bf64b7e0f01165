#pragma once
// An f32 as the sum of two tf32, for products at the accuracy of f32 by units that read 11 of its 24 bits: of
// (high + low) * (high' + low') three products are computed, low * low' is left out. The unit ignores the low 13 bits
// of `low` too, so that each product is within 2^-20 of its value. An infinity, and what is rounded to one (magnitudes
// from 2^128 - 2^115 on), gives NaN.
#include "device/types.cuh"

struct Tf32Terms {
  u32 high, low;
};

// `high` is the nearest tf32. NaN of any bits is NaN in one of the terms.
__device__ inline Tf32Terms tf32_terms(u32 x) {
  const u32 high = (x + 0x1000) & 0xffffe000;
  return {high, __float_as_uint(__uint_as_float(x) - __uint_as_float(high))};
}

template <int Count> __device__ inline void split_terms(const u32 (&x)[Count], u32 (&high)[Count], u32 (&low)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const Tf32Terms terms = tf32_terms(x[i]);
    high[i] = terms.high, low[i] = terms.low;
  }
}
