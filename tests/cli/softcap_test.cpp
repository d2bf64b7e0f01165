// softcap of f32, which hooks call, against cap * tanh(s / cap) of f64: its error, and what is no finite number.
#include <doctest/doctest.h>

#include <fstream>

#include "command.h"

namespace tma_jit::cli {

TEST_CASE("softcap is within 2^-21 of its cap, whatever the score") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::filesystem::path folder = scratch_folder() / "softcap";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "capped.cu") << R"(//! kernel capped
//! arch sm_80
//! dim N
//! tensor D : s32[N] out
//! scalar cap : f32 = 20
//! launch grid ceil_div(N, 128) block 128
//! reference capped_reference grid ceil_div(N, 128) block 128
#include "device/tile/activation.cuh"
// Scores around 0, both infinities, and a NaN.
__device__ f32 score(int i, int n, f32 cap) {
  const f32 infinite = __int_as_float(0x7f800000);
  if (i < 3) return i == 0 ? infinite : i == 1 ? -infinite : infinite - infinite;
  return cap * (24.0f * i / n - 12);
}
#ifndef TMA_JIT_REFERENCE
extern "C" __global__ void capped(View<s32, 1> D, f32 cap, const Dims dims) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= dims.N) return;
  const f32 s = score(i, dims.N, cap), made = softcap(s, cap);
  const f64 error = made - softcap(static_cast<f64>(s), cap);
  D.data[i] = isnan(s)   ? isnan(made)
              : isinf(s) ? made == copysignf(cap, s)
                         : fabs(error) <= fabs(cap) * 0x1p-21;
}
#else
extern "C" __global__ void capped_reference(View<f64, 1> D, f32 cap, const Dims dims) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < dims.N) D.data[i] = 1;
}
#endif
)";
  for (const std::string cap : {"cap=20", "cap=0.003", "cap=-3", "cap=1e30"}) {
    const CommandResult result = run_command({"run", "capped", "--templates", folder.string(), "--check", "--device",
                                              "emulator:sm_80", "N=20000", "--scalar", cap});
    CHECK_MESSAGE(result.exit == 0, cap << ": " << result.out << result.err);
  }
}

}  // namespace tma_jit::cli
