#pragma once
// wgmma with accumulators that are words: s32 (s8 and u8 operands), and f16, two per word (f16 and 8-bit float
// operands).
#include "device/ptx/wgmma_integers.cuh"
#include "device/ptx/wgmma_registers.cuh"

namespace wgmma {

WGMMA_OF_F16(WGMMA_SHARED)
WGMMA_OF_S32(WGMMA_REGISTERS)
WGMMA_OF_F16(WGMMA_REGISTERS)

}  // namespace wgmma
