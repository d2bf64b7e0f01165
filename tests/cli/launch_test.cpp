// run and bench on a device: right kernels pass, wrong ones are found out, files travel whole. Nothing without a
// device.
#include <doctest/doctest.h>

#include "command.h"
#include "npy.h"

namespace tma_jit::cli {
namespace {

CommandResult run_own(std::vector<std::string> words) {
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"--check", "--json", "--templates", template_folder()});
  return run_command(words);
}

void check_passes(const std::vector<std::string>& words) {
  const CommandResult result = run_own(words);
  CAPTURE(words);
  CAPTURE(result.err);
  CAPTURE(result.out);
  CHECK(result.exit == 0);
  CHECK(result.json()["check"]["passed"] == true);
}

TEST_CASE("the library's kernels agree with their references") {
  if (!has_device()) return;
  check_passes({"copy", "N=1000003"});
  check_passes({"copy", "N=1000003", "T=bf16", "--offset", "S=1"});
  check_passes({"map", "N=1000003", "--hook", "apply=a + b"});
  check_passes({"map", "N=1000003", "--hook", "apply=a + b", "T=bf16", "O=bf16", "--data", "integers"});
  check_passes({"gemm", "M=512", "N=768", "K=640"});
  check_passes({"gemm", "M=512", "N=768", "K=640", "--data", "integers", "--fix", "K"});
  check_passes({"gemm", "M=100", "N=200", "K=300", "--pitch", "A=304", "--pitch", "B=304", "--pitch", "D=208"});
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
