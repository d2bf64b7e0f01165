#pragma once
// Four sums, which move together.
#include "device/types.cuh"

template <class X> struct FourOf { using Type = float4; };
template <> struct FourOf<s32> { using Type = int4; };
template <class X> using Four = typename FourOf<X>::Type;

// Adds four to those that begin at `to`.
template <class X> __device__ inline void add_four(X* to, const typename FourOf<X>::Type& x) {
  to[0] += x.x;
  to[1] += x.y;
  to[2] += x.z;
  to[3] += x.w;
}
// Returns the four that begin at `from`.
template <class X> __device__ inline Four<X> four_of(const X* from) {
  return {from[0], from[1], from[2], from[3]};
}
