// The multiplications for x86-64-v3, with whose options this file alone is compiled.
#if defined(__x86_64__)
#include "emulator/numeric/multiply.h"

namespace tma_jit::emulator::matrix::x86_64_v3 {
#include "emulator/numeric/multiply_body.h"
}  // namespace tma_jit::emulator::matrix::x86_64_v3
#endif
