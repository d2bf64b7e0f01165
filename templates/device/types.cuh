#pragma once
// Storage types, tensor views and the few functions that every primitive needs. Includes no CUDA or C++ library
// headers, so that a template compiles in tens of milliseconds.

using u8 = unsigned char;
using s8 = signed char;
using u16 = unsigned short;
using s16 = short;
using u32 = unsigned int;
using s32 = int;
using u64 = unsigned long long;
using s64 = long long;
using f32 = float;
using f64 = double;
struct alignas(2) bf16 {
  u16 bits;
};
struct alignas(2) f16 {
  u16 bits;
};
struct e4m3 {
  u8 bits;
};
struct e5m2 {
  u8 bits;
};

// The tensor map that the driver encodes and the copy engine reads; a kernel takes it as `const __grid_constant__
// CUtensorMap`.
struct alignas(64) CUtensorMap {
  u64 opaque[16];
};

// A tensor that is accessed by address. Strides are in elements, outermost dimension first.
template <class T, int Rank> struct View {
  T* data;
  s64 stride[Rank];
};

// A tensor that is accessed both ways: through a tensor map and as a View.
template <class T, int Rank> struct Mapped {
  CUtensorMap map;
  View<T, Rank> view;
};

template <class T> constexpr __host__ __device__ T ceil_div(T a, T b) {
  return a / b + (a % b != 0);
}

__device__ inline u32 smem_address(const void* p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}
