#pragma once
// Loads 16 bytes from any address with aligned 16-byte loads, whose bytes are shifted into place. PTX ISA 9.0, "shf".
#include "device/types.cuh"

namespace unaligned {

// Returns whether the aligned loads for the 16 bytes at `row + at` stay within a row of `bytes` bytes at `row`.
__device__ inline bool inside(const u8* row, s64 at, s64 bytes) {
  const int shift = reinterpret_cast<u64>(row + at) % 16;
  return shift == 0 || (at >= shift && at - shift + 32 <= bytes);
}

__device__ inline uint4 load(const u8* from) {
  const u32 shift = reinterpret_cast<u64>(from) % 16;
  const uint4* aligned = reinterpret_cast<const uint4*>(from - shift);
  const uint4 low = aligned[0];
  if (shift == 0) return low;
  const uint4 high = aligned[1];
  u32 w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  if (shift & 8) {
#pragma unroll
    for (int i = 0; i < 6; ++i) w[i] = w[i + 2];
  }
  if (shift & 4) {
#pragma unroll
    for (int i = 0; i < 5; ++i) w[i] = w[i + 1];
  }
  const u32 bits = shift % 4 * 8;
  return make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                    __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits));
}

}  // namespace unaligned
