// Inputs that depend on others are computed from them before a kernel is run, unless a file gives them.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "command.h"
#include "npy.h"

namespace tma_jit::cli {
namespace {

// A kernel that is right only where Y is 2 * X or 7.
std::string folder() {
  const std::filesystem::path folder = scratch_folder() / "inputs";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "halves.cu") << R"(//! kernel halves
//! arch sm_90a
//! dim N in 0..1000
//! tensor X : f32[N]
//! tensor Y : f32[N]
//! tensor D : f32[N] out
//! launch grid 1 block 32
//! reference halves_reference grid 1 block 32
//! inputs halves_inputs grid 1 block 32
#ifndef TMA_JIT_REFERENCE
extern "C" __global__ void halves(View<const f32, 1> X, View<const f32, 1> Y, View<f32, 1> D, const Dims dims) {
  for (int i = threadIdx.x; i < dims.N; i += 32)
    D.data[i] = Y.data[i] == 7 || Y.data[i] == 2 * X.data[i] ? Y.data[i] : 1e6f;
}
#else
extern "C" __global__ void halves_reference(View<const f32, 1> X, View<const f32, 1> Y, View<f64, 1> D,
                                            const Dims dims) {
  for (int i = threadIdx.x; i < dims.N; i += 32) D.data[i] = Y.data[i];
}
extern "C" __global__ void halves_inputs(View<const f32, 1> X, View<f32, 1> Y, View<f32, 1> D, const Dims dims) {
  for (int i = threadIdx.x; i < dims.N; i += 32) Y.data[i] = 2 * X.data[i];
}
#endif
)";
  return folder.string();
}

std::vector<float> results(std::vector<std::string> words) {
  const std::string path = scratch_folder() / "halves.npy";
  const std::vector<std::string> all = {"halves", "--templates", folder(), "--device", "emulator:sm_90a", "N=40"};
  words.insert(words.begin() + 1, all.begin(), all.end());
  words.insert(words.end(), {"--out", "D=" + path});
  const CommandResult result = run_command(words);
  CAPTURE(result.err);
  CAPTURE(result.out);
  CHECK(result.exit == 0);
  const auto array = read_npy(path);
  REQUIRE(array);
  const auto* first = reinterpret_cast<const float*>(array->bytes.data());
  return {first, first + array->bytes.size() / sizeof(float)};
}

}  // namespace

TEST_CASE("run computes the inputs that depend on others") {
  if (!kHasEmulator || !has_compiler()) return;
  const std::vector<float> values = results({"run", "--check"});
  CHECK(values.size() == 40);
  CHECK(std::count(values.begin(), values.end(), values[0]) < 40);
}

TEST_CASE("a file's input is not computed") {
  if (!kHasEmulator || !has_compiler()) return;
  const std::string path = scratch_folder() / "sevens.npy";
  const std::vector<float> sevens(40, 7);
  const std::vector<std::int64_t> shape = {40};
  REQUIRE(write_npy(path, DType::f32, shape, std::as_bytes(std::span(sevens))));
  CHECK(results({"run", "--check", "--in", "Y=" + path}) == sevens);
}

TEST_CASE("check computes them too") {
  if (!kHasEmulator || !has_compiler()) return;
  const CommandResult result = run_command({"check", folder() + "/halves.cu"});
  CAPTURE(result.out);
  CHECK(result.exit == 0);
}

}  // namespace tma_jit::cli
