#pragma once
// Copies rows of neighbouring elements between any addresses.
#include "device/tile/unaligned.cuh"

// What is copied where a unit is partial: an element, or half of one of 8 bytes.
template <int Size> struct PieceOf { using Type = u32; };
template <> struct PieceOf<1> { using Type = u8; };
template <> struct PieceOf<2> { using Type = u16; };

// Copies the part inside a row of `bytes` bytes of the 16 bytes at `at`, which is negative where the row begins later.
// All pieces are under way before one is waited for.
template <class T> __device__ inline void copy_part(u8* to, const u8* from, s64 at, s64 bytes) {
  using Piece = typename PieceOf<sizeof(T)>::Type;
  constexpr int kSize = sizeof(Piece);
  const int first = at < 0 ? static_cast<int>(-at) : 0, last = bytes - at < 16 ? static_cast<int>(bytes - at) : 16;
  u32 word[4] = {};
#pragma unroll
  for (int i = 0; i < 16; i += kSize)
    if (from != nullptr && i >= first && i < last)
      word[i / 4] |= u32{*reinterpret_cast<const Piece*>(from + at + i)} << i % 4 * 8;
  unaligned::store_part<Piece>(to + at, make_uint4(word[0], word[1], word[2], word[3]), first, last);
}

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
    if (at >= 0 && at + 16 <= bytes && (none || unaligned::inside(from, at, bytes)))
      *reinterpret_cast<uint4*>(to + at) = none ? uint4{} : unaligned::load<sizeof(T)>(from + at);
    else
      copy_part<T>(to, from, at, bytes);
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
    for (int u = 0; u < Unroll; ++u) x[u] = unaligned::load<sizeof(T)>(from + at + u * step * 16);
#pragma unroll
    for (int u = 0; u < Unroll; ++u) *reinterpret_cast<uint4*>(to + at + u * step * 16) = x[u];
  }
  copy_row(target, source, count, unit, step);
}
