// What is known of configurations outlives the process that found it out.
#include <fstream>

#include <doctest/doctest.h>

#include "base/file.h"
#include "support/temporary_folder.h"
#include "tuning/trial_log.h"

namespace tma_jit::tuning {
namespace {

using Outcome = TuneTrial::Outcome;

Candidate candidate(std::int64_t stages) {
  return {"gemm_wgmma", {}, {{"BM", 128}, {"STAGES", stages}}, 0};
}

struct Kept {
  TrialLog log(std::string_view problem = "p") const { return {file(), problem}; }
  std::filesystem::path file() const { return trial_file(folder.path() / "tuned.jsonl"); }
  std::string text() const { return read_file(file()).value(); }
  const TemporaryFolder folder;
};

}  // namespace

TEST_CASE_FIXTURE(Kept,
                  "another process knows what was measured and what was ruled out, of this problem and template") {
  TrialLog first = log();
  first.begin(candidate(4), "d");
  first.keep(candidate(4), "d", {Outcome::measured, 0.97, {}});
  first.keep(candidate(5), "d", {Outcome::spills, 0, "spills 8 bytes of registers"});
  const TrialLog second = log();
  REQUIRE(second.find(candidate(4), "d"));
  CHECK(second.find(candidate(4), "d")->ratio == 0.97);
  CHECK(second.find(candidate(5), "d")->outcome == Outcome::spills);
  CHECK(second.find(candidate(5), "d")->reason == "spills 8 bytes of registers");
  CHECK_FALSE(second.find(candidate(6), "d"));
  CHECK_FALSE(second.find(candidate(4), "another template's"));
  CHECK_FALSE(log("q").find(candidate(4), "d"));
}

TEST_CASE_FIXTURE(Kept, "a configuration that two processes did not outlive counts as failed") {
  log().begin(candidate(4), "d");
  CHECK_FALSE(log().find(candidate(4), "d"));
  log().begin(candidate(4), "d");
  REQUIRE(log().find(candidate(4), "d"));
  CHECK(log().find(candidate(4), "d")->outcome == Outcome::failed);
  log().keep(candidate(4), "d", {Outcome::measured, 1.5, {}});
  CHECK(log().find(candidate(4), "d")->ratio == 1.5);
}

TEST_CASE_FIXTURE(Kept, "a line of which a killed process wrote a part is left out, and the next one is whole") {
  log().keep(candidate(4), "d", {Outcome::measured, 0.5, {}});
  std::ofstream(file(), std::ios::app) << "\n{\"problem\":\"0123";
  CHECK(log().find(candidate(4), "d"));
  log().keep(candidate(5), "d", {Outcome::disagrees, 0, "Y is far away"});
  CHECK(log().find(candidate(4), "d"));
  CHECK(log().find(candidate(5), "d"));
  std::ofstream(file(), std::ios::app) << "\n[1]\n{\"problem\":7}\n" << std::string(100'000, '[');
  CHECK(log().find(candidate(5), "d"));
}

TEST_CASE_FIXTURE(Kept, "once there is a record, what was measured is forgotten and what was ruled out is not") {
  log("q").keep(candidate(4), "d", {Outcome::measured, 0.5, {}});
  TrialLog mine = log();
  mine.begin(candidate(4), "d");
  mine.keep(candidate(4), "d", {Outcome::measured, 0.5, {}});
  mine.keep(candidate(5), "d", {Outcome::failed, 0, "it does not compile"});
  mine.settle();
  CHECK_FALSE(log().find(candidate(4), "d"));
  CHECK(log().find(candidate(5), "d"));
  CHECK(log("q").find(candidate(4), "d"));
  CHECK(text().find("begun") == std::string::npos);
}

TEST_CASE("without a file nothing is kept, and a file that cannot be written is no error") {
  TrialLog none({}, "p");
  none.keep(candidate(4), "d", {Outcome::measured, 0.5, {}});
  none.settle();
  TrialLog nowhere("/nonexistent/tuned.jsonl.trials", "p");
  nowhere.begin(candidate(4), "d");
  nowhere.keep(candidate(4), "d", {Outcome::measured, 0.5, {}});
  nowhere.settle();
  CHECK(nowhere.find(candidate(4), "d"));
  CHECK_FALSE(TrialLog("/nonexistent/tuned.jsonl.trials", "p").find(candidate(4), "d"));
}

}  // namespace tma_jit::tuning
