#include <fstream>
#include <set>

#include <doctest/doctest.h>

#include <tma_jit/tuning.h>

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
  const auto missing = run_command({"tune", "--merge", missing_file("a.jsonl"), "--records", to});
  CHECK(missing.exit == 1);
  CHECK(missing.err.find("a.jsonl: no such file") != std::string::npos);
}

TEST_CASE("tune takes --pitch and --offset as run does, and makes the folder of its records") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string records = records_named("missing-folder/deeper/placed.jsonl");
  const auto tune = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"tune",   "--device",     "emulator:sm_90a", "--candidates", "1",      "--warm",
                                      "--json", "--budget=300", "--records",       records,        "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  };
  const auto placed = tune({"copy", "N=2000", "T=f32", "--offset", "S=1"});
  REQUIRE_MESSAGE(placed.exit == 0, placed.err);
  CHECK(placed.json()["results"][0]["record"]["conditions"] == "S at 4");
  const auto rows = tune({"softmax", "M=4", "N=32", "T=f32", "--pitch", "S=33"});
  REQUIRE_MESSAGE(rows.exit == 0, rows.err);
  CHECK(rows.json()["results"][0]["record"]["conditions"] == "S rows 4");
  const auto packed = tune({"copy", "N=2000", "T=f32"});
  REQUIRE_MESSAGE(packed.exit == 0, packed.err);
  CHECK(packed.json()["results"][0]["known"] == false);
  CHECK_FALSE(packed.json()["results"][0]["record"].contains("conditions"));
  CHECK(tune({"copy", "N=2000", "T=f32", "--offset", "S=1"}).json()["results"][0]["known"] == true);
  CHECK(tune({"--list", "none.jsonl", "--pitch", "S=33"}).exit == 2);
  const std::string beneath = records_named("a-file");
  std::ofstream(beneath) << "\n";
  const auto unmade = run_command({"tune", "--merge", records, "--records", beneath + "/of.jsonl"});
  CHECK(unmade.exit == 1);
  CHECK(unmade.err.find("its folder cannot be made") != std::string::npos);
}

TEST_CASE("tune says that it keeps no record of a reference") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string list = records_named("reference-list.jsonl"), records = records_named("reference.jsonl");
  std::ofstream(list) << R"({"kernel":"softmax","dims":{"M":2,"N":32},"types":{"T":"f32"},"reference":true})";
  const auto tuned = run_command({"tune", "--list", list, "--device", "emulator:sm_90a", "--candidates", "1", "--warm",
                                  "--budget=300", "--records", records});
  REQUIRE_MESSAGE(tuned.exit == 0, tuned.err);
  CHECK(tuned.out.find("record    none: the request is for a reference") != std::string::npos);
  CHECK(tuned.out.find("records are in") == std::string::npos);
}

TEST_CASE("what cannot be tuned is a part of the one object, with its line; an empty list is no fault") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string list = records_named("untunable.jsonl"), empty = records_named("empty.jsonl");
  std::ofstream(list) << R"({"kernel":"copy","dims":{"Q":1},"types":{"T":"f32"}})";
  std::ofstream(empty) << "# none\n";
  const std::vector<std::string> words = {
      "tune", "--device", "emulator", "--json", "--records", records_named("untunable-records.jsonl"), "--list"};
  const auto tune = [&](const std::string& of) {
    std::vector<std::string> all = words;
    all.push_back(of);
    return run_command(all);
  };
  const auto failed = tune(list);
  CHECK(failed.exit == 1);
  REQUIRE(failed.json()["results"].size() == 1);
  CHECK(failed.json()["results"][0]["place"] == list + ":1");
  CHECK(failed.json()["results"][0]["error"]["message"].get<std::string>().find("no template takes") !=
        std::string::npos);
  CHECK(failed.err.find(list + ":1: copy: no template takes this request") != std::string::npos);
  CHECK(tune(empty).exit == 0);
}

TEST_CASE("what a request computes by its params is tuned for such requests only") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string list = records_named("pinned-list.jsonl"), records = records_named("pinned.jsonl");
  std::ofstream lines(list);
  lines << R"({"kernel":"scan","dims":{"M":2,"N":96},"types":{"T":"f32"},"params":{"OP":2}})"
        << "\n";
  // As an application records a kernel that was missing: params of the configuration, and those that its call pinned.
  lines << R"({"kernel":"scan","arch":"sm_90a","file":"scan_rows","dims":{"M":2,"N":128},"types":{"T":"f32"},)"
        << R"("params":{"OP":3,"EXCLUSIVE":0,"SEGMENTED":0,"THREADS":128,"LANES":32,"PACKS":1,"BYTES":16},)"
        << R"("pins":{"OP":3}})"
        << "\n";
  lines.close();
  const std::vector<std::string> device = {"--device", "emulator:sm_90a", "--records", records};
  std::vector<std::string> words = {"tune", "--list", list, "--candidates", "2", "--warm", "--budget=300", "--json"};
  words.insert(words.end(), device.begin(), device.end());
  const auto tuned = run_command(words);
  REQUIRE_MESSAGE(tuned.exit == 0, tuned.err);
  const auto results = tuned.json()["results"];
  REQUIRE(results.size() == 2);
  CHECK(results[0]["record"]["pins"] == nlohmann::json({{"OP", 2}}));
  CHECK(results[1]["record"]["pins"] == nlohmann::json({{"OP", 3}}));
  const auto planned = [&](const char* columns, const std::string& operation) {
    std::vector<std::string> plan = {"plan", "scan", "M=2", columns, "T=f32", "--json", "--device", "emulator:sm_90a"};
    if (!operation.empty()) plan.push_back(operation);
    return run_command(plan, {"TMA_JIT_TUNED=" + records}).json();
  };
  CHECK(!planned("N=96", "OP=2")["record"].get<std::string>().empty());
  CHECK(!planned("N=128", "OP=3")["record"].get<std::string>().empty());
  for (const char* columns : {"N=96", "N=128"}) {
    CHECK(planned(columns, "")["record"].get<std::string>().empty());
    CHECK(planned(columns, "")["config"]["OP"] == 0);
  }
  CHECK(planned("N=96", "OP=3")["record"].get<std::string>().empty());
}

TEST_CASE("tune killed at any moment loses no record and no measurement, and goes on where it was") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string records = records_named("killed.jsonl"), list = records_named("killed-list.jsonl");
  std::ofstream(list) << R"({"kernel":"copy","dims":{"N":2000},"types":{"T":"f32"}})"
                      << "\n"
                      << R"({"kernel":"copy","dims":{"N":3000},"types":{"T":"f32"}})"
                      << "\n";
  const std::vector<std::string> words = {"tune",   "--list",    list,    "--device", "emulator", "--candidates",
                                          "3",      "--records", records, "--warm",   "--json",   "--budget=300",
                                          "--quiet"};
  std::size_t known = 0;
  int kills = 0;
  for (double seconds = 0.05; kills < 40; seconds *= 1.3) {
    const auto turn = run_command(words, {}, seconds);
    const auto file = read_tuning_file(records);
    REQUIRE(file);
    CHECK(file->faults.empty());
    CHECK(file->records.size() >= known);
    known = file->records.size();
    if (turn.exit == 0) break;
    ++kills;
  }
  CHECK(kills > 0);
  CHECK(known == 2);
  const auto again = run_command(words);
  CHECK(again.json()["results"][0]["known"] == true);
  CHECK(again.json()["results"][1]["known"] == true);
}

TEST_CASE("of eight processes that start together without records one tunes, and all have its record") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string records = records_named("together.jsonl");
  const std::vector<std::string> words = {"tune",         "copy",   "N=2500",    "T=f32", "--device", "emulator",
                                          "--candidates", "2",      "--records", records, "--warm",   "--json",
                                          "--budget=300", "--quiet"};
  const auto all = run_commands(8, words);
  int measured = 0;
  std::set<std::string> recorded;
  for (const auto& one : all) {
    REQUIRE_MESSAGE(one.exit == 0, one.err);
    const auto result = one.json()["results"][0];
    measured += result["known"] == false ? 1 : 0;
    recorded.insert(result["record"].dump());
  }
  CHECK(measured == 1);
  CHECK(recorded.size() == 1);
  CHECK(read_tuning_file(records)->records.size() == 1);
}

TEST_CASE("a corrupt, a truncated, a foreign and a future record lose their own lines, which one warning names") {
  const std::string records = records_named("faulty.jsonl");
  const std::string sound = kRecord;
  std::ofstream(records) << sound << "\n"
                         << sound.substr(0, 60) << "\n"
                         << "\x01\x02 not text\n"
                         << R"({"kernel":"copy","a field of another program":1})"
                         << "\n"
                         << sound.substr(0, sound.size() - 1) << R"(,"version":9})"
                         << "\n";
  const auto plan = run_command({"plan", "copy", "N=7", "T=f32", "--device", "h100"}, {"TMA_JIT_TUNED=" + records});
  CHECK(plan.exit == 0);
  for (const int line : {2, 3, 4, 5}) CHECK(plan.err.find("faulty.jsonl:" + std::to_string(line)) != std::string::npos);
  CHECK(plan.err.find("4 lines of records") == plan.err.rfind("lines of records") - 2);
  CHECK(read_tuning_file(records)->records.size() == 1);
}

TEST_CASE("tune refuses what it cannot do") {
  CHECK(run_command({"tune", "--device", "h100"}).exit == 2);
  const auto nothing = run_command({"tune", "copy", "N=64", "--device", "h100"});
  CHECK(nothing.exit == 1);
  if (!kHasEmulator) return;
  const auto budget = run_command({"tune", "copy", "N=64", "--device", "emulator", "--budget", "0"});
  CHECK(budget.exit == 1);
  CHECK(budget.err.find("a budget of 0 seconds") != std::string::npos);
  if (!has_compiler()) return;
  const auto graphs = run_command(
      {"tune", "copy", "N=64", "--device", "emulator", "--graph", "--records", records_named("graphs.jsonl")});
  CHECK(graphs.exit == 1);
  CHECK(graphs.err.find("has no graphs: measure launches instead") != std::string::npos);
}

}  // namespace tma_jit::cli
