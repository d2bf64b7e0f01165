#pragma once
// Copies rows of neighbouring elements between any addresses.
#include "device/tile/unaligned.cuh"

// Copies units first, first + step, ... of a row of `count` elements. A unit is 16 bytes at an aligned address of
// `target`, so that the first and the last unit of a row may be partial. With Nullable, stores zeros if `source` is
// null: a test of each unit, which costs a copy of rows of 64 KiB 1 % on an H200.
template <bool Nullable = false, class T>
__device__ inline void copy_row(T* target, const T* source, s64 count, s64 first, s64 step) {
  u8* const to = reinterpret_cast<u8*>(target);
  const u8* const from = reinterpret_cast<const u8*>(source);
  const s64 bytes = count * s64{sizeof(T)};
  const bool none = Nullable && from == nullptr;
  const int before = reinterpret_cast<u64>(to) % 16;
  const s64 units = ceil_div<s64>(before + bytes, 16);
  for (s64 unit = first; unit < units; unit += step) {
    const s64 at = unit * 16 - before;
    if (at >= 0 && at + 16 <= bytes && (none || unaligned::inside(from, at, bytes))) {
      *reinterpret_cast<uint4*>(to + at) = none ? uint4{} : unaligned::load(from + at);
    } else {
      const s64 end = min(at + 16, bytes);
      for (s64 i = max(at, s64{0}); i < end; ++i) to[i] = none ? 0 : from[i];
    }
  }
}

// The same with Unroll units of a thread in flight, for rows of many units.
template <int Unroll, class T>
__device__ inline void copy_long_row(T* target, const T* source, s64 count, s64 first, s64 step) {
  u8* const to = reinterpret_cast<u8*>(target);
  const u8* const from = reinterpret_cast<const u8*>(source);
  const s64 bytes = count * s64{sizeof(T)};
  const int before = reinterpret_cast<u64>(to) % 16;
  const s64 units = ceil_div<s64>(before + bytes, 16), span = (Unroll - 1) * step;
  const auto whole = [&](s64 at) { return at >= 0 && at + 16 <= bytes && unaligned::inside(from, at, bytes); };
  s64 unit = first;
  for (; unit + span < units; unit += Unroll * step) {
    const s64 at = unit * 16 - before;
    if (!whole(at) || !whole(at + span * 16)) {
      copy_row(target, source, min(count, (at + span * 16 + 16) / s64{sizeof(T)}), unit, step);
      continue;
    }
    uint4 x[Unroll];
#pragma unroll
    for (int u = 0; u < Unroll; ++u) x[u] = unaligned::load(from + at + u * step * 16);
#pragma unroll
    for (int u = 0; u < Unroll; ++u) *reinterpret_cast<uint4*>(to + at + u * step * 16) = x[u];
  }
  copy_row(target, source, count, unit, step);
}
