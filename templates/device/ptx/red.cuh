#pragma once
// Reductions of global memory without a result. PTX ISA 9.0, "red".
#include "device/types.cuh"

namespace global {

// Adds four neighbouring numbers at an address of 16 bytes, each a relaxed atomic operation at GPU scope. sm_90 and
// newer.
__device__ inline void add_4(f32* to, f32 a, f32 b, f32 c, f32 d) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "f"(a),
               "f"(b), "f"(c), "f"(d)
               : "memory");
}

}  // namespace global
