// What an atomic operation leaves in memory.
#pragma once

#include <algorithm>

#include "emulator/program/program.h"

namespace tma_jit::emulator {

enum class Atomic : u16 { add, min, max, inc, dec, conjunction, disjunction, exclusive, exchange, compare_exchange };

// compare_exchange: c where `old` is b.
u64 atomic_value(Atomic kind, ptx::Type type, u64 old, u64 b, u64 c);

}  // namespace tma_jit::emulator
