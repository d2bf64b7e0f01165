#pragma once
// Copies rows of neighbouring elements, and boxes of such rows, between any addresses.
#include "device/tile/unaligned.cuh"

// Copies units first, first + step, ... of a row of `bytes` bytes. A unit is 16 bytes at an aligned address of `to`, so
// that the first and the last unit of a row may be partial.
__device__ inline void copy_row(u8* to, const u8* from, s64 bytes, s64 first, s64 step) {
  const int before = reinterpret_cast<u64>(to) % 16;
  const s64 units = ceil_div<s64>(before + bytes, 16);
  for (s64 unit = first; unit < units; unit += step) {
    const s64 at = unit * 16 - before;
    if (at >= 0 && at + 16 <= bytes && unaligned::inside(from, at, bytes)) {
      *reinterpret_cast<uint4*>(to + at) = unaligned::load(from + at);
    } else {
      const s64 end = min(at + 16, bytes);
      for (s64 i = max(at, s64{0}); i < end; ++i) to[i] = from[i];
    }
  }
}
