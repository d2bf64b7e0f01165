// The records that the library ships: each is sound, and one of another template's text decides nothing.
#include <chrono>
#include <map>

#include <doctest/doctest.h>

#include <tma_jit/tuning.h>

#include "base/text.h"
#include "support/temporary_folder.h"
#include "tuning/problem_key.h"
#include "tuning/record_book.h"
#include "tuning/shipped_records.h"

namespace tma_jit {
namespace {

// Returns all shipped records.
std::vector<TuningRecord> shipped() {
  std::vector<TuningRecord> records;
  for (const EmbeddedFile& file : tuning::shipped_files()) {
    for (const std::string_view line : split({file.text, file.size}, '\n')) {
      if (line.empty() || line.front() == '#') continue;
      auto record = parse_tuning_line(line);
      REQUIRE_MESSAGE(record, line);
      records.push_back(std::move(*record));
    }
  }
  return records;
}

// An engine that plans for a device by its facts and has no GPU.
Engine planning_engine(const std::string& device, TuningPolicy policy) {
  Options options;
  options.device = Device::known(device);
  options.use_cache = false;
  options.tuning.policy = policy;
  return Engine(options);
}

}  // namespace

TEST_CASE("every shipped record is a record, and is found by its kernel") {
  std::map<std::string, std::size_t> count;
  for (const TuningRecord& record : shipped()) ++count[record.kernel];
  for (const auto& [kernel, records] : count) CHECK(tuning::shipped_records(kernel).size() == records);
  CHECK(tuning::shipped_records("no such kernel").empty());
  CHECK(tuning::shipped_records("gem").empty());
}

TEST_CASE("the driver's and the facts' name of a device are one model") {
  TuningRecord measured;
  measured.device = "NVIDIA H200";
  TuningRecord named = measured;
  named.device = "h200";
  CHECK(tuning::problem_key(measured) == tuning::problem_key(named));
  named.device = "h100";
  CHECK(tuning::problem_key(measured) != tuning::problem_key(named));
}

}  // namespace tma_jit
