#pragma once
// Stores to global memory. PTX ISA 9.0, "st".
#include "device/types.cuh"

namespace global {

// 16 bytes by one instruction, also where the compiler would store their elements one by one. The compiler may move
// loads of the same thread to either side of it: what is stored here must not be read again.
__device__ inline void store_16(void* to, const uint4& x) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "r"(x.x), "r"(x.y),
               "r"(x.z), "r"(x.w));
}
// The same of what is not read again soon, which leaves L2 before other lines.
__device__ inline void store_16_once(void* to, const uint4& x) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "r"(x.x), "r"(x.y),
               "r"(x.z), "r"(x.w));
}
__device__ inline void store_8(void* to, const uint2& x) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)), "r"(x.x), "r"(x.y));
}

}  // namespace global
