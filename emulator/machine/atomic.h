// The results of atomic operations.
#pragma once

#include <algorithm>

#include "emulator/program/program.h"

namespace tma_jit::emulator {

enum class Atomic : u16 { add, min, max, inc, dec, conjunction, disjunction, exclusive, exchange, compare_exchange };

// Returns the new value in memory. compare_exchange returns c if `old` equals b.
u64 atomic_value(Atomic kind, ptx::Type type, u64 old, u64 b, u64 c);

}  // namespace tma_jit::emulator
