#pragma once
// wgmma with A in registers and f32 accumulators.
#include "device/ptx/wgmma.cuh"

namespace wgmma {

// clang-format off
#define WGMMA_REGISTERS(REGISTER, COUNT, A, B, PRED, N, K, D, TA, TB, TAIL, A1, A2, A3) \
  template <> struct IssueRegisters<REGISTER, COUNT> { \
    template <class F, class Tail> \
    __device__ static void rs(REGISTER (&d)[COUNT], const u32 (&a)[4], u64 b, bool accumulate) { \
      asm volatile(WGMMA_HEAD(PRED, N, K, D, TA, TB, COUNT) "{" #A ", " #A1 ", " #A2 ", " #A3 "}, " #B ", p" #TAIL ";\n}" \
                   : WGMMA_APPLY(REGISTER_OPERANDS_##COUNT, WGMMA_CONSTRAINT_##REGISTER) \
                   : "r"(a[0]), "l"(b), "r"(int{accumulate}), WGMMA_TEXTS, "C"(Tail::text), \
                     "r"(a[1]), "r"(a[2]), "r"(a[3])); \
    } \
  };
// clang-format on
WGMMA_OF_F32(WGMMA_REGISTERS)

}  // namespace wgmma
