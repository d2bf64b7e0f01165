#pragma once
// Division by a number that a thread divides by often: a multiplication and a shift instead of some twenty
// instructions. Granlund and Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994.
#include "device/types.cuh"

// Of numbers from 0 to 2^31 - 1 by one from 1 to 2^31 - 1.
struct Divisor {
  u32 by, factor;
  int shift;

  __device__ explicit Divisor(u32 by) : by(by) {
    shift = by <= 1 ? 0 : 31 - __clz(by - 1);  // 2^shift < by <= 2^(shift + 1)
    factor = by <= 1 ? 0 : static_cast<u32>(((u64{1} << (32 + shift)) + by - 1) / by);
  }
  __device__ u32 quotient(u32 x) const { return by <= 1 ? x : __umulhi(x, factor) >> shift; }
};
