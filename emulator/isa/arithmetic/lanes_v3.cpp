// The lane functions compiled for x86-64-v3.
#if defined(__x86_64__)
#include <bit>
#include <type_traits>

#include "emulator/numeric/float_bits.h"
#include "emulator/program/lanes.h"

namespace tma_jit::emulator::isa::x86_64_v3 {
#include "emulator/isa/arithmetic/lanes_body.h"
}  // namespace tma_jit::emulator::isa::x86_64_v3
#endif
