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

}  // namespace relaxed
