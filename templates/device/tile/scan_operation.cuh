#pragma once
// What the files of `scan` combine, in the order of the elements: in f32 or s32, or in f64 in a reference.
#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/ptx/max_nan.cuh"

// Neighbouring elements combined: those from the last begin of a segment on.
template <class X> struct Part {
  X x;
  bool begins;  // whether a segment begins among them
};

// Op is the template's OP: 0 sum, 2 maximum, 3 minimum, 5 the hook `combine`. Without Segmented no segment begins.
template <int Op, bool Segmented, class Number, class H> struct ScanOperation {
  using X = Number;
  static constexpr bool kSegmented = Segmented;
  static constexpr bool kInteger = static_cast<X>(0.5F) == X{0};

  const H& hooks;
  X given;  // the neutral element of `combine`

  __device__ Part<X> neutral() const {
    if constexpr (Op == 5) return {given, false};
    if constexpr (Op == 0) return {X{0}, false};
    if constexpr (kInteger) return {Op == 2 ? -0x7fffffff - 1 : 0x7fffffff, false};
    return {static_cast<X>(Op == 2 ? -infinity() : infinity()), false};
  }
  // What X[row,column] contributes.
  template <class T> __device__ X element(T x, int row, int column) const {
    if constexpr (kInteger)
      return hooks.input(static_cast<X>(x), row, column);
    else if constexpr (sizeof(X) == 8)
      return hooks.input(to_f64(x), row, column);
    else
      return hooks.input(to_f32(x), row, column);
  }
  __device__ X combine(X before, X after) const {
    if constexpr (Op == 5) return hooks.combine(before, after);
    if constexpr (Op == 0 && kInteger) return static_cast<u32>(before) + static_cast<u32>(after);
    if constexpr (Op == 0) return before + after;
    if constexpr (kInteger)
      return Op == 2 ? max(before, after) : min(before, after);
    else
      return Op == 2 ? max_nan(before, after) : min_nan(before, after);
  }
  // Of the parts of adjacent elements that of all.
  __device__ Part<X> joined(const Part<X>& before, const Part<X>& after) const {
    if constexpr (!Segmented) return {combine(before.x, after.x), false};
    return {after.begins ? after.x : combine(before.x, after.x), before.begins || after.begins};
  }
  // Y[row,column] of what its elements contributed together.
  template <class O> __device__ O result(X x, int row, int column) const {
    x = hooks.output(x, row, column);
    if constexpr (kInteger || sizeof(X) == 8)
      return static_cast<O>(x);
    else
      return from_f32<O>(x);
  }
  // Goes on from `before`, what precedes an element, to what precedes the next. Returns the element's result.
  template <bool Exclusive> __device__ X next(Part<X>& before, const Part<X>& element) const {
    const X preceding = element.begins ? neutral().x : before.x;
    before = joined(before, element);
    return Exclusive ? preceding : before.x;
  }
};
