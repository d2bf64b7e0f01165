#pragma once
// Count adjacent elements that are transferred in one access of up to 16 bytes (in several if they are larger).
#include "device/types.cuh"

template <class T, int Count> struct alignas(Count * sizeof(T) < 16 ? Count * sizeof(T) : 16) Pack { T x[Count]; };

// Loads the pack at `from`, of which only `left` elements may be read: all, some or, if it is not positive, none.
template <int Count, class T> __device__ inline Pack<T, Count> load_pack(const T* from, int left) {
  if (left >= Count) return *reinterpret_cast<const Pack<T, Count>*>(from);
  Pack<T, Count> pack = {};
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (i < left) pack.x[i] = from[i];
  return pack;
}
// The same of any address: element by element if `from` is not aligned for the pack.
template <int Count, class T> __device__ inline Pack<T, Count> load_pack_anywhere(const T* from, int left) {
  if (left >= Count && reinterpret_cast<u64>(from) % alignof(Pack<T, Count>) == 0)
    return *reinterpret_cast<const Pack<T, Count>*>(from);
  Pack<T, Count> pack = {};
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (i < left) pack.x[i] = from[i];
  return pack;
}
// The same for storing; element by element if `to` is not aligned for the pack.
template <class T, int Count> __device__ inline void store_pack(T* to, const Pack<T, Count>& pack, int left) {
  if (left >= Count && reinterpret_cast<u64>(to) % alignof(Pack<T, Count>) == 0) {
    *reinterpret_cast<Pack<T, Count>*>(to) = pack;
    return;
  }
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (i < left) to[i] = pack.x[i];
}
