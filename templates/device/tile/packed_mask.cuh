#pragma once
// A mask as bits, which the kernel attention_mask makes: bit k % 32 of bits[q, k / 32] is whether query q sees key k,
// and blocks[q / 128, k / 64] is how many keys of the block the queries of the block see, a Seen. A hook reads them by
//   packed(blocks[q / 128, k / 64], bits[q, k / 32], k)
// What it is called with decides what it gives: of one key whether it is seen, of ranges of queries and keys what the
// blocks say of them, and of 32 neighbouring keys, of which the tensors are read once, their 32 bits.
#include "device/tile/interval.cuh"

enum Seen : s32 { kSeenNone = 0, kSeenSome = 1, kSeenAll = 2 };

__device__ constexpr s32 packed(s32, s32 word, s32 key) {
  return static_cast<u32>(word) >> (key & 31) & 1;
}

__device__ constexpr Truth packed(Interval block, Interval, Interval) {
  return {block.hi > kSeenNone, block.lo == kSeenAll};
}

// The keys from `first` on, a multiple of 32. `together` becomes false if they are divided by a number that divides
// them among several elements.
struct Keys32 {
  s32 first;
  bool& together;

  __device__ friend s32 operator/(const Keys32& keys, s32 divisor) {
    if (divisor % 32 != 0) keys.together = false;
    return keys.first / divisor;
  }
};

// Of which of 32 keys a query sees.
struct SeenKeys {
  u32 bits;
};

__device__ constexpr SeenKeys packed(s32, s32 word, const Keys32&) {
  return {static_cast<u32>(word)};
}
