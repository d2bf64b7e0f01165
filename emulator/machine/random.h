// The scheduler's random numbers: fast, and the same on every host for a given seed (SplitMix64, by Sebastiano Vigna,
// public domain).
#pragma once

#include "emulator/word.h"

namespace tma_jit::emulator {

class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}
  u64 next() {
    u64 z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  // Returns a number from 0 to count - 1. Slightly uneven for counts near 2^32.
  u32 below(u64 count) { return static_cast<u32>(((next() >> 32) * count) >> 32); }

 private:
  u64 state_;
};

}  // namespace tma_jit::emulator
