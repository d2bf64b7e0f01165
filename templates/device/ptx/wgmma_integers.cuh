#pragma once
// wgmma with s32 accumulators (s8 and u8 operands), A in shared memory.
#include "device/ptx/wgmma.cuh"

namespace wgmma {

WGMMA_OF_S32(WGMMA_SHARED)

}  // namespace wgmma
