// A launch leaves a workspace that must be zero as the next one needs it, or --check says so.
#include <doctest/doctest.h>

#include <fstream>

#include "command.h"

namespace tma_jit::cli {
namespace {

// The last block to come, of as many as BLOCKS says, resets the counter and counts in D how many came before.
constexpr const char* kTemplate = R"(//! kernel counted
//! arch sm_90a
//! dim N in 1..1000
//! param BLOCKS = 0 in 0..100
//! tensor A : f32[N]
//! tensor D : f32[N] out
//! workspace counter 4 zero
//! launch grid ceil_div(N, 32) block 32
//! reference counted_reference grid 1 block 32
#ifndef TMA_JIT_REFERENCE
extern "C" __global__ void counted(View<const f32, 1> A, View<f32, 1> D, u8* counter, const Dims dims) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i > 0 && i < dims.N) D.data[i] = A.data[i];
  if (threadIdx.x != 0) return;
  const u32 before = atomicInc(reinterpret_cast<u32*>(counter), BLOCKS - 1);
  if (before == 6) D.data[0] = A.data[0];
}
#else
extern "C" __global__ void counted_reference(View<const f32, 1> A, View<f64, 1> D, const Dims dims) {
  for (int i = threadIdx.x; i < dims.N; i += 32) D.data[i] = A.data[i];
}
#endif
)";

}  // namespace

TEST_CASE("a check launches twice where a workspace is not left zero, and fails where the second launch needed it") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string file = (scratch_folder() / "counted.cu").string();
  std::ofstream(file) << kTemplate;
  const auto run = [&](const std::string& blocks, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"run", file, "N=200", "--check", "--device", "emulator:sm_90a", blocks};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  };
  const CommandResult right = run("BLOCKS=7");
  CHECK_MESSAGE(right.exit == 0, right.out << right.err);
  CHECK(right.out.find("again") == std::string::npos);
  const CommandResult left = run("BLOCKS=8");
  CHECK(left.exit == 1);
  CHECK_MESSAGE(left.out.find("  again     with the workspaces that the first launch did not leave zero\n"
                              "  check     D: 199 of 200 elements agree") != std::string::npos,
                left.out << left.err);
  CHECK(run("BLOCKS=8", {"--json"}).out.find(R"("again": [)") != std::string::npos);
}

}  // namespace tma_jit::cli
