#pragma once
// What the matrix units multiply for each element type: Type is PTX's type, and Sum that of the accumulators.
#include "device/ptx/text.cuh"

template <class T> struct Unit {
  using Type = T;
  using Sum = f32;
};
template <> struct Unit<f32> {
  using Type = tf32;
  using Sum = f32;
};
template <> struct Unit<s8> {
  using Type = s8;
  using Sum = s32;
};
