#pragma once
// Count adjacent elements that are transferred in one access of up to 16 bytes (in several if they are larger).
#include "device/ptx/st.cuh"

template <class T, int Count> struct alignas(Count * sizeof(T) < 16 ? Count * sizeof(T) : 16) Pack { T x[Count]; };

// Loads or stores a pack in global memory, at a multiple of its bytes up to 16, by accesses as wide: a struct of small
// elements the compiler may read or write one by one. What is stored must not be read again by the thread.
template <int Count, class T> __device__ inline Pack<T, Count> load_whole_pack(const T* from) {
  Pack<T, Count> pack;
  if constexpr (sizeof(pack) % 16 == 0) {
#pragma unroll
    for (int i = 0; i < sizeof(pack) / 16; ++i)
      reinterpret_cast<uint4*>(&pack)[i] = reinterpret_cast<const uint4*>(from)[i];
  } else {
    pack = *reinterpret_cast<const Pack<T, Count>*>(from);
  }
  return pack;
}
template <class T, int Count> __device__ inline void store_whole_pack(T* to, const Pack<T, Count>& pack) {
  if constexpr (sizeof(pack) % 16 == 0) {
#pragma unroll
    for (int i = 0; i < sizeof(pack) / 16; ++i)
      global::store_16(reinterpret_cast<uint4*>(to) + i, reinterpret_cast<const uint4*>(&pack)[i]);
  } else if constexpr (sizeof(pack) == 8) {
    global::store_8(to, reinterpret_cast<const uint2&>(pack));
  } else {
    *reinterpret_cast<Pack<T, Count>*>(to) = pack;
  }
}

// Loads the pack at `from`, of which only `left` elements may be read: all, some or, if it is not positive, none.
template <int Count, class T> __device__ inline Pack<T, Count> load_pack(const T* from, int left) {
  if (left >= Count) return load_whole_pack<Count>(from);
  Pack<T, Count> pack = {};
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (i < left) pack.x[i] = from[i];
  return pack;
}
// The same of any address: element by element if `from` is not aligned for the pack.
template <int Count, class T> __device__ inline Pack<T, Count> load_pack_anywhere(const T* from, int left) {
  if (left >= Count && reinterpret_cast<u64>(from) % alignof(Pack<T, Count>) == 0) return load_whole_pack<Count>(from);
  Pack<T, Count> pack = {};
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (i < left) pack.x[i] = from[i];
  return pack;
}
// The same for storing; element by element if `to` is not aligned for the pack.
template <class T, int Count> __device__ inline void store_pack(T* to, const Pack<T, Count>& pack, int left) {
  if (left >= Count && reinterpret_cast<u64>(to) % alignof(Pack<T, Count>) == 0) {
    store_whole_pack(to, pack);
    return;
  }
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (i < left) to[i] = pack.x[i];
}
