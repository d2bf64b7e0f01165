#pragma once
// Words of global memory that other blocks access meanwhile. PTX ISA 9.0, "ld" and "st".
#include "device/types.cuh"

namespace relaxed {

__device__ inline u64 load(const u64* from) {
  u64 word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(__cvta_generic_to_global(from)) : "memory");
  return word;
}
__device__ inline void store(u64* to, u64 word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "l"(word) : "memory");
}

__device__ inline u32 load(const u32* from) {
  u32 word;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(__cvta_generic_to_global(from)) : "memory");
  return word;
}
__device__ inline void store(u32* to, u32 word) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(word) : "memory");
}

}  // namespace relaxed
