// What an atomic operation leaves in memory.
#pragma once

#include <algorithm>

#include "emulator/exec/handlers.h"

namespace tma_jit::emulator {

// compare_exchange: c where `old` is b.
u64 atomic_value(Atomic kind, ptx::Type type, u64 old, u64 b, u64 c);

}  // namespace tma_jit::emulator
