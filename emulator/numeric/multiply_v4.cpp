// The multiplications compiled for x86-64-v4.
#if defined(__x86_64__)
#include "emulator/numeric/multiply.h"

namespace tma_jit::emulator::numeric::x86_64_v4 {
#include "emulator/numeric/multiply_body.h"
}  // namespace tma_jit::emulator::numeric::x86_64_v4
#endif
