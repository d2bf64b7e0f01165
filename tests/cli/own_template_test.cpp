// What the command says of a template with a mistake that its compiler does not see.
#include <doctest/doctest.h>

#include <fstream>

#include "command.h"

namespace tma_jit::cli {
namespace {

constexpr std::string_view kTemplate = R"(//! kernel sums
//! arch sm_90a
//! dim N in 2..100000
//! tensor A : s32[N]
//! tensor D : s32[N] out
//! launch grid ceil_div(N, 32) block 32
//! work flops N bytes 8 * N
//! reference sums_reference grid ceil_div(N, 32) block 32
#ifndef TMA_JIT_REFERENCE
extern "C" __global__ void sums(View<const s32, 1> A, View<s32, 1> D, const Dims dims) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < dims.N) D.data[i] = A.data[i] + (i + 1 < dims.N ? A.data[i + 1] : 0);
}
#else
extern "C" __global__ void sums_reference(View<const s32, 1> A, View<f64, 1> D, const Dims dims) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < dims.N) D.data[i] = A.data[i] + (i + 1 < dims.N ? A.data[i + 1] : 0);
}
#endif
)";

// Writes the template with the first `part` from `from` on replaced.
std::string written(std::string_view part = "", std::string_view by = "", std::string_view from = "") {
  std::string text(kTemplate);
  if (!part.empty()) text.replace(text.find(part, text.find(from)), part.size(), by);
  const std::string file = (scratch_folder() / "sums.cu").string();
  std::ofstream(file) << text;
  return file;
}

}  // namespace

TEST_CASE("what reads beyond an input is found, in a kernel and in a reference") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto run = [](const std::string& file, const std::string& extent) {
    return run_command({"run", file, extent, "--check", "--device", "emulator:sm_90a:references=1"});
  };
  for (const char* extent : {"N=64", "N=61"}) CHECK(run(written(), extent).exit == 0);
  for (const char* kernel : {"void sums(", "void sums_reference("}) {
    const std::string file = written("i + 1 < dims.N", "true", kernel);
    for (const CommandResult& found : {run(file, "N=64"), run_command({"check", file, "--arch", "sm_90a"})}) {
      CHECK(found.exit == 1);
      CHECK_MESSAGE(found.err.find("uninitialised") != std::string::npos, found.out << found.err);
      CHECK(found.err.find("sums.cu:") != std::string::npos);
    }
  }
}

TEST_CASE("a kernel or a reference that is not there is a failure before anything is launched") {
  if (!has_compiler()) return;
  const CommandResult kernel =
      run_command({"check", written("extern \"C\" ", "", "#ifndef"), "--arch", "sm_90a", "--no-emulator"});
  CHECK(kernel.exit == 1);
  CHECK(kernel.err.find("sums.cu: the kernel sums is not extern \"C\"") != std::string::npos);
  if (!kHasEmulator) return;
  const CommandResult reference =
      run_command({"check", written("sums_reference(", "sums_naive(", "#else"), "--arch", "sm_90a"});
  CHECK(reference.exit == 1);
  CHECK(reference.err.find("there is no kernel sums_reference, which the manifest names") != std::string::npos);
}

TEST_CASE("check names what is declared and mentioned nowhere else") {
  if (!has_compiler()) return;
  const auto check = [](const std::string& file) {
    return run_command({"check", file, "--arch", "sm_90a", "--no-emulator", "--json"});
  };
  CHECK(check(written()).json()["unused"].empty());
  const CommandResult found =
      check(written("//! work",
                    "//! dim Q\n//! let DEAD = N * 2\n//! hook idle(f32 x) : f32 = x\n//! preset P = 2 when "
                    "DEAD > 9\n//! param P = 1 in {1, 2}\n//! work"));
  CHECK(found.exit == 1);
  CHECK(found.json()["faults"] == 2);
  REQUIRE(found.json()["unused"].size() == 2);
  CHECK(found.err.find("sums.cu:7: nothing uses the dim Q, which requests must give\n") != std::string::npos);
  CHECK(found.err.find("sums.cu:9: nothing calls the hook idle, so that a request's text would have no effect\n") !=
        std::string::npos);
}

TEST_CASE("a template without TMA that is named by its file is compared with itself") {
  const auto made = run_command({"estimate", written(), "N=1000", "--device", "h100", "--json"});
  REQUIRE_MESSAGE(made.exit == 0, made.err);
  CHECK(made.json()["benefit"] == 1);
}

}  // namespace tma_jit::cli
