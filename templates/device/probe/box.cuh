#pragma once
// What the probes of tensor copies share: boxes of 1 to 5 dimensions, element by element. Innermost dimension first.
#include "device/ptx/cvt.cuh"

namespace probe {

// The I-th of several tensors, of which one belongs to the configuration.
template <int I, class First, class... Rest>
__device__ inline const auto& pick(const First& first, const Rest&... rest) {
  if constexpr (I == 0)
    return first;
  else
    return pick<I - 1>(rest...);
}

template <int Rank> struct Position { int at[Rank]; };

// Of the index-th element of a box.
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

// Where the swizzle puts a byte of a box whose base is aligned to 1024 bytes: the 16-byte chunk's number within its row
// is changed by the 128-byte line's. The same function finds what lies at a byte.
__device__ inline int swizzled(int byte, int swizzle) {
  return swizzle == 0 ? byte : byte ^ ((byte >> 7 & (swizzle / 16 - 1)) << 4);
}

}  // namespace probe
