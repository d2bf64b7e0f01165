#pragma once
// Moves 16 bytes from or to any address with aligned accesses, whose bytes are shifted into place. PTX ISA 9.0, "shf".
#include "device/types.cuh"

namespace unaligned {

// Returns whether the aligned loads for the 16 bytes at `row + at` stay within a row of `bytes` bytes at `row`.
__device__ inline bool inside(const u8* row, s64 at, s64 bytes) {
  const int shift = reinterpret_cast<u64>(row + at) % 16;
  return shift == 0 || (at >= shift && at - shift + 32 <= bytes);
}

// Returns the 16 bytes from byte `shift`, 0 to 15 and a multiple of Unit, of 32 bytes.
template <int Unit = 1> __device__ inline uint4 shifted(const uint4& low, const uint4& high, u32 shift) {
  u32 w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  if (shift & 8) {
#pragma unroll
    for (int i = 0; i < 6; ++i) w[i] = w[i + 2];
  }
  if (Unit < 8 && (shift & 4)) {
#pragma unroll
    for (int i = 0; i < 5; ++i) w[i] = w[i + 1];
  }
  if constexpr (Unit >= 4) return make_uint4(w[0], w[1], w[2], w[3]);
  const u32 bits = shift % 4 * 8;
  return make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                    __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits));
}

// The address is a multiple of Unit.
template <int Unit = 1> __device__ inline uint4 load(const u8* from) {
  const u32 shift = reinterpret_cast<u64>(from) % 16;
  const uint4* aligned = reinterpret_cast<const uint4*>(from - shift);
  const uint4 low = aligned[0];
  if (shift == 0) return low;
  return shifted<Unit>(low, aligned[1], shift);
}

// The same by loads of 8 bytes, with fewer instructions: they stay within 8 bytes before and behind the 16. The address
// is a multiple of Unit.
template <int Unit> __device__ inline uint4 load_by_halves(const u8* from) {
  const u32 shift = reinterpret_cast<u64>(from) % 8;
  const uint2* const aligned = reinterpret_cast<const uint2*>(from - shift);
  const uint2 a = aligned[0], b = aligned[1], c = shift == 0 ? uint2{} : aligned[2];
  u32 w[5] = {a.x, a.y, b.x, b.y, c.x};
  if (Unit < 8 && (shift & 4)) {
    w[0] = a.y, w[1] = b.x, w[2] = b.y, w[3] = c.x, w[4] = c.y;
  }
  if constexpr (Unit >= 4) return make_uint4(w[0], w[1], w[2], w[3]);
  const u32 bits = shift % 4 * 8;
  return make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                    __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits));
}

// Stores the part from byte `first` to before byte `last` of 16 bytes to an aligned address, words whole where it can.
// Both are multiples of sizeof(T), and may lie outside the 16 bytes.
template <class T> __device__ inline void store_part(u8* to, const uint4& x, int first, int last) {
  constexpr int kSize = sizeof(T), kStep = kSize < 4 ? 4 : kSize;
  union {
    uint4 all;
    u32 words[4];
    T elements[16 / kSize];
  } from = {x};
#pragma unroll
  for (int at = 0; at < 16; at += kStep) {
    if (kSize < 4 && at >= first && at + 4 <= last) {
      *reinterpret_cast<u32*>(to + at) = from.words[at / 4];
      continue;
    }
#pragma unroll
    for (int i = at; i < at + kStep; i += kSize)
      if (i >= first && i < last) *reinterpret_cast<T*>(to + i) = from.elements[i / kSize];
  }
}

}  // namespace unaligned
