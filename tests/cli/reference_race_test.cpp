// The emulator runs float64 references without shadow memory unless it is asked for.
#include <doctest/doctest.h>

#include <fstream>

#include "command.h"

namespace tma_jit::cli {
namespace {

// In the reference every block writes the first element, the same value, in no order.
constexpr const char* kTemplate = R"(//! kernel first
//! arch sm_90a
//! dim N in 1..1000
//! tensor A : f32[N]
//! tensor D : f32[N] out
//! launch grid ceil_div(N, 32) block 32
//! reference first_reference grid 3 block 32
#ifndef TMA_JIT_REFERENCE
extern "C" __global__ void first(View<const f32, 1> A, View<f32, 1> D, const Dims dims) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < dims.N) D.data[i] = A.data[i];
}
#else
extern "C" __global__ void first_reference(View<const f32, 1> A, View<f64, 1> D, const Dims dims) {
  for (int i = blockIdx.x * 32 + threadIdx.x; i < dims.N; i += 96) D.data[i] = A.data[i];
  if (threadIdx.x == 0) D.data[0] = A.data[0];
}
#endif
)";

}  // namespace

TEST_CASE("a race in a reference is found by check, and by run where it is asked for") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string file = (scratch_folder() / "first.cu").string();
  std::ofstream(file) << kTemplate;
  const auto run = [&](const std::string& device) {
    return run_command({"run", file, "N=200", "--check", "--device", device});
  };
  const CommandResult alone = run("emulator:sm_90a");
  CHECK_MESSAGE(alone.exit == 0, alone.out << alone.err);
  for (const CommandResult& found :
       {run("emulator:sm_90a:references=1"), run_command({"check", file, "--arch", "sm_90a"})}) {
    CHECK(found.exit != 0);
    CHECK_MESSAGE(found.err.find("race: two accesses to global memory") != std::string::npos, found.out << found.err);
  }
}

}  // namespace tma_jit::cli
