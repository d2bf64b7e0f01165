#pragma once
// A tensor that hooks read element by element, which a request calls an operand. A hook's `bias[column]` is compiled as
// `bias(column)`.
#include "device/ptx/cvt.cuh"

// Value is the type to which an element is converted: f32, or f64 in a reference and if hooks compute in it; integers
// are not converted. Neighbours is whether elements of the innermost dimension are adjacent, so that the distances of
// their addresses are constants.
template <class T, int Rank, class Value, bool Neighbours> struct Operand {
  const T* data;
  s64 stride[Rank];  // in elements, outermost first; 0 along a broadcast dimension
  s64 extent[Rank];  // the largest s64 along a broadcast dimension

  // Returns the element at these indices, outermost first; 0 if one is out of range, as in the part of a last tile
  // beyond the tensor. Indices are integers.
  template <class... Index, class = decltype((Index{} % 1 + ...))> __device__ Value operator()(Index... index) const {
    static_assert(sizeof...(Index) == Rank, "an operand is read with one index a dimension");
    bool inside = true;
    const T* at = data;
    int dimension = 0;
    ((inside = inside && is_within(index, extent[dimension]), at += step(index, dimension), ++dimension), ...);
    return inside ? converted(*at, Value{}) : Value{};
  }

 private:
  // A 32-bit index needs one comparison; if the extent has more than 31 bits, the index is within it unless it is
  // negative.
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
