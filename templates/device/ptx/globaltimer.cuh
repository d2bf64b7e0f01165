#pragma once
// The device's clock. PTX ISA 9.0, "Special Registers: %globaltimer".
#include "device/types.cuh"

// Nanoseconds, in steps of up to a microsecond.
__device__ inline u64 now_ns() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
