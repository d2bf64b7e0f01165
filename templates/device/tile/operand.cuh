#pragma once
// A tensor that hooks read element by element: what a request calls an operand. A hook's `bias[column]` is compiled as
// `bias(column)`.
#include "device/ptx/cvt.cuh"

// Value is what an element is converted to: f32, or f64 in a reference and where hooks compute in it; integers stay
// what they are. Neighbours is true where elements of the innermost dimension are neighbours: their addresses are then
// constants apart.
template <class T, int Rank, class Value, bool Neighbours> struct Operand {
  const T* data;
  s64 stride[Rank];  // in elements, outermost first; 0 along a dimension that is read for every index
  s64 extent[Rank];  // the largest s64 along such a dimension

  // The element at these indices, outermost first; 0 where one of them is outside, as it is where a kernel computes the
  // part of a last tile that lies beyond the tensor. Indices are integers.
  template <class... Index, class = decltype((Index{} % 1 + ...))> __device__ Value operator()(Index... index) const {
    static_assert(sizeof...(Index) == Rank, "an operand is read with one index a dimension");
    bool inside = true;
    const T* at = data;
    int dimension = 0;
    ((inside = inside && is_within(index, extent[dimension]), at += step(index, dimension), ++dimension), ...);
    return inside ? converted(*at, Value{}) : Value{};
  }

 private:
  // An index of 32 bits takes one comparison: along an extent beyond 31 bits it is inside where it is not negative.
  template <class Index> __device__ static bool is_within(Index index, s64 extent) {
    if constexpr (sizeof(Index) == sizeof(int) && Index(-1) < Index(0))
      return static_cast<u32>(index) < (extent >> 31 != 0 ? 0x80000000u : static_cast<u32>(extent));
    else
      return static_cast<u64>(index) < static_cast<u64>(extent);
  }
  __device__ s64 step(s64 index, int dimension) const {
    return Neighbours && dimension == Rank - 1 ? index : index * stride[dimension];
  }
  __device__ static f32 converted(T x, f32) { return to_f32(x); }
  __device__ static f64 converted(T x, f64) { return to_f64(x); }
  template <class Integer> __device__ static Integer converted(T x, Integer) { return x; }
};
