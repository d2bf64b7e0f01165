// The baseline multiplications, and the selection of the instruction set.
#include "emulator/numeric/multiply.h"

namespace tma_jit::emulator::numeric {
namespace generic {
#include "emulator/numeric/multiply_body.h"
}  // namespace generic

#if defined(__x86_64__)
namespace x86_64_v3 {
extern const Kernels kKernels;
}
namespace x86_64_v4 {
extern const Kernels kKernels;
}
#endif

namespace {

const Kernels& fastest() {
#if defined(__x86_64__)
  const bool has_v3 =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("bmi2") != 0;
  const bool has_v4 = has_v3 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                      __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                      __builtin_cpu_supports("avx512vl") != 0;
  if (has_v4) return x86_64_v4::kKernels;
  if (has_v3) return x86_64_v3::kKernels;
#endif
  return generic::kKernels;
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = fastest();
  return chosen;
}

}  // namespace tma_jit::emulator::numeric
