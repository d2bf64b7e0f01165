// What an application asked for: recorded, merged, built for a device, and proved to be there without a compile.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "command.h"

namespace tma_jit::cli {
namespace {

constexpr const char* kDevice = "emulator:sm_90a";
constexpr double kProofMsMax = 100;  // a kernel; what is expected is below 1 ms, on a machine that is not busy

std::string path_named(const std::string& name) {
  return (scratch_folder() / name).string();
}

std::string file_of(const std::string& name, const std::string& text) {
  std::ofstream(path_named(name)) << text;
  return path_named(name);
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Requests of one kernel with different hooks, which makes each a kernel of its own.
std::string maps(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += R"({"kernel":"map","dims":{"N":4096},"types":{"T":"f32"},"hooks":{"apply":"a + )" + std::to_string(i) +
            "\"}}\n";
  }
  return text;
}

CommandResult warm(const std::string& list, const std::string& cache, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"warm", "--manifest", list, "--device", kDevice, "--json", "--cache-dir", cache});
  return run_command(more);
}

}  // namespace

TEST_CASE("a manifest of 30 kernels is built once, and a new process proves it without a compile") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string cache = path_named("thirty"), list = file_of("thirty.jsonl", maps(30));
  const auto before = warm(list, cache, {"--prove"});
  CHECK(before.exit == 1);
  CHECK(before.json()["there"] == 0);
  CHECK(before.json()["missing"].size() == 30);
  CHECK(before.err.find("is not in the cache") != std::string::npos);
  const auto built = warm(list, cache);
  CHECK_MESSAGE(built.exit == 0, built.err);
  CHECK(built.json()["compiled"] == 30);
  const auto proved = warm(list, cache, {"--prove"});
  CHECK_MESSAGE(proved.exit == 0, proved.err);
  CHECK(proved.json()["there"] == 30);
  const double each_ms = proved.json()["proof_ms"].get<double>() / 30;
  MESSAGE("the proof takes ", each_ms, " ms a kernel");
  CHECK(each_ms < kProofMsMax);
  CHECK(warm(list, cache).json()["compiled"] == 0);
}

TEST_CASE("a proof names what is missing, damaged or unknown, and counts the rest") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string cache = path_named("some"), list = file_of("some.jsonl", maps(2));
  REQUIRE(warm(list, cache).exit == 0);
  const std::string more = file_of("more.jsonl", maps(3) + R"({"kernel":"mapp","dims":{"N":4096}})" + "\n");
  const auto proved = warm(more, cache, {"--prove"});
  CHECK(proved.exit == 1);
  CHECK(proved.json()["there"] == 2);
  const auto missing = proved.json()["missing"];
  REQUIRE(missing.size() == 2);
  CHECK(missing[0]["line"].get<std::string>().find("a + 2") != std::string::npos);
  CHECK(missing[1]["fault"].get<std::string>().find("mapp") != std::string::npos);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache)) {
    const bool is_entry = entry.is_regular_file() && entry.path().filename().string().size() == 62;
    if (is_entry) std::filesystem::permissions(entry.path(), std::filesystem::perms::owner_all);
    if (is_entry) std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  }
  CHECK(warm(list, cache, {"--prove"}).json()["there"] == 0);
  CHECK(run_command({"warm", "--manifest", list, "--prove", "--no-cache"}).exit == 2);
}

TEST_CASE("prepared requests are recorded once, hits too, by any number of processes, and serve other devices") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string list = path_named("asked.jsonl");
  const auto run = [&](const char* hook) {
    return run_command({"run", "map", "N=1000", "T=f32", "--hook", std::string("apply=") + hook, "--device", kDevice,
                        "--cache-dir", path_named("asked")},
                       {"TMA_JIT_RECORD_REQUESTS=" + list});
  };
  for (const char* hook : {"a * 2", "a * 3", "a * 2"}) {
    const auto result = run(hook);
    CHECK_MESSAGE(result.exit == 0, result.err);
  }
  REQUIRE(lines_of(list).size() == 2);
  CHECK(lines_of(list)[0].find("arch") == std::string::npos);
  CHECK(warm(list, path_named("asked"), {"--prove"}).exit == 0);
  const auto other =
      run_command({"warm", "--manifest", list, "--device", "b200", "--json", "--cache-dir", path_named("asked_b200")});
  CHECK_MESSAGE(other.exit == 0, other.err);
  CHECK(other.json()["compiled"] == 2);
}

TEST_CASE("manifests are merged, each line once, and filtered; what cannot be read is named and left out") {
  const std::string one = file_of("one.jsonl",
                                  "# recorded\n\n{\"kernel\":\"copy\",\"dims\":{\"N\":8}}\n"
                                  "{\"kernel\":\"fill\",\"dims\":{\"N\":8}}\n{\"kernel\":\"co");
  const std::string two = file_of("two.jsonl",
                                  "{ \"dims\": {\"N\": 8}, \"kernel\": \"copy\" }\r\n"
                                  "{\"kernel\":\"copy\",\"dims\":{\"N\":9}}\n"
                                  "{\"kernel\":\"copy\",\"clusters\":9}\n");
  const auto merged = run_command({"manifest", one, two});
  CHECK(merged.exit == 1);
  CHECK(std::count(merged.out.begin(), merged.out.end(), '\n') == 3);
  CHECK(merged.err.find("one.jsonl:5: left out: not a JSON object") != std::string::npos);
  CHECK(merged.err.find("two.jsonl:3: left out: no field is named \"clusters\"") != std::string::npos);
  const auto copies = run_command({"manifest", one, two, "--kernel", "copy", "--json"});
  CHECK(copies.json()["lines"] == 2);
  CHECK(copies.json()["faults"] == 2);
  CHECK(run_command({"manifest", one, two, "-o", one}).exit == 1);
  const auto again = run_command({"manifest", one});
  CHECK(again.exit == 0);
  CHECK(again.out == merged.out);
  CHECK(run_command({"manifest"}).exit == 2);
  const std::string pipe = path_named("manifest.pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto refused = run_command({"manifest", one, "-o", pipe});
  CHECK(refused.exit == 1);
  CHECK(refused.err.find("io: cannot write " + pipe + ": it is not a regular file") == 0);
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK(run_command({"manifest", missing_file("list.jsonl")}).exit == 1);
}

}  // namespace tma_jit::cli
