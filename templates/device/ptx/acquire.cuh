#pragma once
// Counters in global memory by which blocks wait for each other. PTX ISA 9.0, "ld", "st", "red" and "Memory Consistency
// Model".
#include "device/types.cuh"

namespace global {

__device__ inline u32 load_acquire(const u32* from) {
  u32 word;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(__cvta_generic_to_global(from)) : "memory");
  return word;
}
__device__ inline void store_release(u32* to, u32 word) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(word) : "memory");
}
__device__ inline void add_release(u32* to, u32 word) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(word) : "memory");
}
// Waits until the counter is `word`; what was written before it was stored or added with release is then visible.
__device__ inline void await(const u32* counter, u32 word) {
  while (load_acquire(counter) != word) __nanosleep(100);
}

}  // namespace global
