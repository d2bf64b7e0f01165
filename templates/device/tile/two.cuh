#pragma once
#include "device/types.cuh"

// Two elements in as many registers as their bytes need.
template <class T, int Size = sizeof(T)> struct alignas(2 * sizeof(T)) Two {
  T x[2];

  __device__ static Two of(T first, T second) { return {{first, second}}; }
  __device__ T at(int i) const { return x[i]; }
};
template <class T> struct Two<T, 2> {
  u32 word;

  __device__ static Two of(T first, T second) {
    return {*reinterpret_cast<const u16*>(&first) | u32{*reinterpret_cast<const u16*>(&second)} << 16};
  }
  __device__ T at(int i) const {
    const u16 half = static_cast<u16>(word >> 16 * i);
    return *reinterpret_cast<const T*>(&half);
  }
};
