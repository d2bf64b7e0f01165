// run and bench on a device: right kernels pass, wrong ones are found out, files travel whole. Nothing without a
// device.
#include <set>

#include <doctest/doctest.h>

#include "launches.h"
#include "npy.h"
#include "support/combinations.h"

using namespace tma_jit::cli::launches;

namespace tma_jit::cli {
namespace {

TEST_CASE("the library's kernels agree with their references") {
  if (!has_device()) return;
  check_passes({"copy", "N=1000003"});
  check_passes({"copy", "N=1000003", "T=bf16", "--offset", "S=1"});
  check_passes({"map", "N=1000003", "--hook", "apply=a + b"});
  check_passes({"map", "N=1000003", "--hook", "apply=a + b", "T=bf16", "O=bf16", "--data", "integers"});
  check_passes({"gemm", "M=512", "N=768", "K=640"});
  check_passes({"gemm", "M=500", "N=300", "K=64", "--operand", "bias : f32[N]", "--operand", "up : bf16[M, N]",
                "--operand", "alpha : f32 = 0.5", "--hook", "epilogue=alpha * (x + bias[column]) * up[row, column]",
                "--pitch", "D=304", "--offset", "up=1", "--scalar", "alpha=2"});
  check_passes({"gemm", "M=512", "N=768", "K=640", "--data", "integers", "--fix", "K"});
  check_passes({"gemm", "M=100", "N=200", "K=300", "--pitch", "A=304", "--pitch", "B=304", "--pitch", "D=208"});
  check_passes({"gemm", "M=1", "N=4096", "K=4096"});
  check_passes({"gemm", "M=13", "N=1000", "K=777", "--pitch", "A=777", "--pitch", "B=777", "--operand", "bias : f32[N]",
                "--hook", "epilogue=x + bias[column]"});
  for (const char* type : {"T=e4m3", "T=e5m2", "T=s8", "T=f32"})
    check_passes({"gemm", "M=200", "N=304", "K=400", type, "O=f32"});
  check_passes({"gemm", "M=200", "N=304", "K=400", "T=s8", "O=s32"});
  check_passes({"gemm", "M=200", "N=304", "K=400", "T=s8", "O=s8", "--hook", "epilogue=x * 0.0078125f"});
  check_passes({"gemm", "M=200", "N=304", "K=400", "T=e4m3", "O=e4m3", "--operand", "scale : f32 = 0.25", "--hook",
                "epilogue=x * scale"});
  check_passes({"gemm", "M=65", "N=67", "K=69", "T=s8", "O=s32"});
  check_passes({"gemm", "M=1", "N=1", "K=1", "--pitch", "A=4", "--template-file", "gemm_mma_cp_async"});
  for (const char* order : {"TA=1", "TB=1"}) check_passes({"gemm", "M=136", "N=200", "K=75", order});
  check_passes({"gemm", "M=200", "N=304", "K=75", "TA=1", "TB=1", "--template-file", "gemm_mma"});
  check_passes({"gemm", "M=33", "N=37", "K=75", "TA=1", "T=e4m3", "O=f32"});
  check_passes({"gemm", "M=136", "N=144", "K=40", "--operand", "C : bf16[M, N]", "--operand", "alpha : f32 = 2",
                "--operand", "beta : f32 = 0.5", "--hook", "epilogue=alpha * x + beta * C[row, column]"});
  check_passes(
      {"gemm", "M=136", "N=144", "K=40", "--operand", "bias : f32[N]", "--hook", "epilogue=gelu(x + bias[column])"});
  check_passes({"gemm", "M=136", "N=144", "K=40", "--operand", "up : bf16[M, N]", "--hook",
                "epilogue=silu(x) * up[row, column]"});
  check_passes({"gemm_batched", "M=130", "N=136", "K=72", "BATCH=3", "A_BATCH=3", "B_BATCH=1"});
  check_passes(
      {"gemm_batched", "M=136", "N=144", "K=40", "BATCH=5", "A_BATCH=1", "B_BATCH=5", "TA=1", "TB=1", "O=f32"});
  for (const char* file : {"gemm_gated_wgmma", "gemm_gated_mma_cp_async"})
    check_passes({"gemm_gated", "M=200", "N=304", "K=104", "--template-file", file});
  check_passes({"gemm_gated", "M=13", "N=1001", "K=1000"});
  for (const char* file : {"gemm_gated_batched_wgmma", "gemm_gated_batched_mma_cp_async"})
    check_passes({"gemm_gated_batched", "M=200", "N=304", "K=104", "BATCH=3", "A_BATCH=3", "B_BATCH=1",
                  "--template-file", file});
}

TEST_CASE("an optional input exists because it is given, pinned or named by a hook") {
  if (!has_device()) return;
  check_passes({"scale", "N=2000"});
  check_passes({"scale", "N=2000", "WITH_Z=1", "--scalar", "alpha=0.5"});
  check_passes({"scale", "N=2000", "--hook", "finish=x * z"});
}

TEST_CASE("faults are found and named") {
  if (!has_device()) return;
  check_passes({"wrong", "N=1000"});
  const nlohmann::json unwritten = run_own({"wrong", "N=1000", "FAULT=1"}).json()["check"]["outputs"][0];
  CHECK(unwritten["mismatches"] == 1);
  CHECK(unwritten["unwritten"] == 1);
  CHECK(unwritten["first"][0]["index"] == std::vector<int>{5});
  const CommandResult off = run_own({"wrong", "N=1000", "FAULT=2"});
  CHECK(off.exit == 1);
  CHECK(off.json()["check"]["outputs"][0]["first"][0]["index"] == std::vector<int>{7});
  CHECK(run_own({"wrong", "N=1000", "FAULT=3"}).json()["check"]["outputs"][0]["stray_bytes"] == 4);
}

TEST_CASE("a matrix in a file binds the dims of copy and of map, a vector those of their other files") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string matrix = (scratch_folder() / "matrix.npy").string();
  const std::vector<float> values(24 * 40, 1.5F);
  const std::vector<std::int64_t> shape = {24, 40};
  REQUIRE(write_npy(matrix, DType::f32, shape, std::as_bytes(std::span(values))).has_value());
  check_passes({"copy", kDevice, kEmulator, "--in", "S=" + matrix});
  check_passes({"map", kDevice, kEmulator, "--in", "A=" + matrix, "--hook", "apply=a + 1"});
  check_passes({"map", kDevice, kEmulator, "--in", "B=" + matrix, "--hook", "apply=a"});
  check_passes({"map", kDevice, kEmulator, "--in", "A=" + matrix, "--hook", "apply=a + b + c"});
  const nlohmann::json ran = run_own({"map", kDevice, kEmulator, "--in", "B=" + matrix, "--hook", "apply=a"}).json();
  CHECK(ran["config"]["INPUTS"] == 2);
  CHECK(ran["dims"][0]["value"] == 24);
  CHECK(ran["dims"][1]["value"] == 40);
}

TEST_CASE("without dims an example is run") {
  if (!has_compiler() || !kHasEmulator) return;
  std::set<std::string> kernels;
  const nlohmann::json listed = run_command({"list", "--arch", "sm_90a", "--json"}).json();
  for (const nlohmann::json& file : listed["kernels"]) kernels.insert(file["kernel"].get<std::string>());
  CHECK(kernels.size() > 40);
  std::size_t cell = 0;
  for (const std::string& kernel : kernels)
    if (testing::takes(cell++)) check_passes({kernel, kDevice, kEmulator});
}

TEST_CASE("plan, emit and build have the layouts that run has") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::vector<std::string> words = {"copy", "M=40", "N=100", "--pitch", "S=101", "--offset", "S=1"};
  const auto said = [&](const char* verb) {
    std::vector<std::string> all = {verb, "--json", kDevice, kEmulator};
    all.insert(all.end(), words.begin(), words.end());
    return run_command(all).json();
  };
  const nlohmann::json ran = said("run"), planned = said("plan");
  CHECK(planned["file"] == ran["file"]);
  CHECK(planned["config"] == ran["config"]);
  CHECK(planned["reason"] ==
        "S begins at 1 byte, rows of S are 101 bytes apart: without TMA, by copy_rows instead of "
        "copy_tiled");
  CHECK(ran["reason"] == planned["reason"]);
  CHECK(said("emit")["name"] == ran["file"]);
  CHECK(said("build")["config"] == ran["config"]);
  CHECK(run_command({"plan", "copy", "N=100", "--offset", "X=1"}).exit == 2);
  CHECK(run_command({"plan", "copy", "N=100", "--pitch", "S=128", "--device", "h100"}).exit == 2);
}

TEST_CASE("a pitch makes rows valid that would not be without it") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto with = [](const char* pitch) {
    return std::vector<std::string>{"gemm",    kDevice, "emulator:sm_100a", "--template-file", "gemm_few_rows",
                                    "M=2",     "N=1",   "K=1614",           "T=f16",           "VEC=16",
                                    "--pitch", pitch,   "--pitch",          "B=1624"};
  };
  check_passes(with("A=1680"));
  std::vector<std::string> words = with("A=1682");
  words.insert(words.begin(), "plan");
  const CommandResult refused = run_command(words);
  CHECK(refused.exit == 1);
  CHECK(refused.err.find("stride(A, 0) = 1682") != std::string::npos);
}

TEST_CASE("files go in and come out whole") {
  if (!has_device()) return;
  const std::string in = (scratch_folder() / "in.npy").string();
  const std::string out = (scratch_folder() / "out.npy").string();
  const std::string raw = (scratch_folder() / "out.raw").string();
  std::vector<float> values(1001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 3;
  const std::vector<std::int64_t> shape = {1001};
  REQUIRE(write_npy(in, DType::f32, shape, std::as_bytes(std::span(values))).has_value());
  check_passes({"copy", "--in", "S=" + in, "--out", "D=" + out});  // N and T are the file's
  check_passes({"copy", "--in", "S=" + in, "--out", "D=" + raw, "--offset", "D=3"});
  const auto written = read_npy(out);
  REQUIRE(written.has_value());
  CHECK(written->bytes == read_npy(in)->bytes);
  CHECK(read_bytes(raw).value() == written->bytes);
  const CommandResult wrong = run_command({"run", "copy", "N=1000", "T=f32", "--in", "S=" + raw});
  CHECK(wrong.exit == 1);
  CHECK(wrong.err.find("4004 bytes, but S is [1000] of f32, 4000 bytes") != std::string::npos);
}

TEST_CASE("bench states its method") {
  if (!has_device()) return;
  const CommandResult result = run_command({"bench", "copy", "N=67108864", "--repeat", "10", "--host-launches", "100"});
  CHECK(result.exit == 0);
  for (const char* part : {"method    events around each launch", "10 repeats", "median", "GB/s", "us a launch call"})
    CHECK(result.out.find(part) != std::string::npos);
}

}  // namespace
}  // namespace tma_jit::cli
