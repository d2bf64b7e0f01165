#include <fstream>

#include <doctest/doctest.h>

#include "command.h"

namespace tma_jit::cli {
namespace {

std::string records_named(const char* name) {
  return (scratch_folder() / name).string();
}

constexpr const char* kRecord =
    R"({"kernel":"copy","types":{"T":"f32"},"dims":{"N":7},"hooks":"","device":"d","sm_count":1,"file":"copy",)"
    R"("digest":"0123456789abcdef","params":{"VEC":16},"us":5,"preset_us":6,"driver":"13.0","compiler":"13.0.88"})";

}  // namespace

TEST_CASE("tune records a configuration, finds it again, and plan names the record") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string records = records_named("tuned.jsonl");
  const std::vector<std::string> words = {"tune",         "copy",   "N=2000",    "T=f32", "--device", "emulator",
                                          "--candidates", "2",      "--records", records, "--warm",   "--json",
                                          "--budget=300", "--quiet"};
  const auto first = run_command(words);
  REQUIRE_MESSAGE(first.exit == 0, first.err);
  const auto result = first.json()["results"][0];
  CHECK(result["known"] == false);
  CHECK(result["trials"].size() == 3);
  CHECK(result["trials"][0]["outcome"] == "measured");
  CHECK(result["record"]["dims"]["N"] == 2000);
  const auto second = run_command(words);
  CHECK(second.exit == 0);
  CHECK(second.json()["results"][0]["known"] == true);
  const auto plan =
      run_command({"plan", "copy", "N=2000", "T=f32", "--device", "emulator", "--json"}, {"TMA_JIT_TUNED=" + records});
  CHECK(plan.exit == 0);
  CHECK(plan.json()["record"].get<std::string>().find(records) == 0);
}

TEST_CASE("tune --merge puts records together without a device, and names what it leaves out") {
  const std::string from = records_named("from.jsonl"), to = records_named("to.jsonl");
  std::ofstream(from) << kRecord << "\nrotten\n";
  const auto merged = run_command({"tune", "--merge", from, "--records", to, "--json"});
  REQUIRE_MESSAGE(merged.exit == 0, merged.err);
  CHECK(merged.json()["merged"] == 1);
  CHECK(merged.err.find("from.jsonl:2: not a JSON object") != std::string::npos);
  CHECK(run_command({"tune", "--merge", from}).exit == 2);
}

TEST_CASE("tune refuses what it cannot do") {
  CHECK(run_command({"tune", "--device", "h100"}).exit == 2);
  const auto nothing = run_command({"tune", "copy", "N=64", "--device", "h100"});
  CHECK(nothing.exit == 1);
  if (!kHasEmulator) return;
  const auto budget = run_command({"tune", "copy", "N=64", "--device", "emulator", "--budget", "0"});
  CHECK(budget.exit == 1);
  CHECK(budget.err.find("a budget of 0 seconds") != std::string::npos);
}

}  // namespace tma_jit::cli
