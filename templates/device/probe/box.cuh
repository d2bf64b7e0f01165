#pragma once
// Shared by the probes of tensor copies: boxes of 1 to 5 dimensions, element by element, innermost dimension first.
#include "device/ptx/cvt.cuh"

namespace probe {

// Returns the I-th of several tensors; the configuration selects one.
template <int I, class First, class... Rest>
__device__ inline const auto& pick(const First& first, const Rest&... rest) {
  if constexpr (I == 0)
    return first;
  else
    return pick<I - 1>(rest...);
}

template <int Rank> struct Position { int at[Rank]; };

// Returns the position of the index-th element of a box.
template <int Rank> __device__ inline Position<Rank> position(int index, const int (&box)[5]) {
  Position<Rank> p;
#pragma unroll
  for (int i = 0; i < Rank; ++i) {
    p.at[i] = index % box[i];
    index /= box[i];
  }
  return p;
}
template <int Rank> __device__ inline Position<Rank> sum(Position<Rank> a, const Position<Rank>& b) {
#pragma unroll
  for (int i = 0; i < Rank; ++i) a.at[i] += b.at[i];
  return a;
}

template <int Rank> __device__ inline bool inside(const Position<Rank>& p, const int (&extent)[5]) {
  bool all = true;
#pragma unroll
  for (int i = 0; i < Rank; ++i) all = all && p.at[i] >= 0 && p.at[i] < extent[i];
  return all;
}
template <class T, int Rank> __device__ inline T& element(const View<T, Rank>& view, const Position<Rank>& p) {
  s64 offset = 0;
#pragma unroll
  for (int i = 0; i < Rank; ++i) offset += p.at[i] * view.stride[Rank - 1 - i];
  return view.data[offset];
}

}  // namespace probe
