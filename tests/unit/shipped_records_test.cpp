// The records that the library ships: each is sound, and one of another template's text decides nothing.
#include <algorithm>
#include <map>

#include <doctest/doctest.h>

#include <tma_jit/tuning.h>

#include "base/text.h"
#include "tuning/pinned.h"
#include "tuning/problem_key.h"
#include "tuning/shipped_records.h"
#include "tuning/written_record.h"

namespace tma_jit {
namespace {

// Returns all shipped records.
std::vector<TuningRecord> shipped() {
  std::vector<TuningRecord> records;
  for (const EmbeddedFile& file : tuning::shipped_files()) {
    for (const std::string_view line : split(file.text(), '\n')) {
      if (line.empty() || line.front() == '#') continue;
      auto record = parse_tuning_line(line);
      REQUIRE_MESSAGE(record, line);
      CHECK_MESSAGE(tuning::read_written(line), line);
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

TEST_CASE("every shipped record is a line as tuning_line writes it, and is found by its problem") {
  std::map<std::string, tuning::SharedLayer> layers;
  for (const TuningRecord& record : shipped()) {
    auto& layer = layers[record.device];
    if (layer == nullptr) layer = tuning::shipped_layer(record.device);
    const auto found = layer->of(record);
    REQUIRE_MESSAGE(found, tuning_line(record));
    CHECK(found->record == record);
  }
  REQUIRE(layers.size() >= 2);
  for (const auto& [device, layer] : layers) CHECK_FALSE(layer->of({}));
  CHECK(tuning::shipped_layer("a device that nobody measured")->empty());
}

TEST_CASE("a file of shipped records is of one device, which the library knows before it reads the file") {
  for (const EmbeddedFile& file : tuning::shipped_files()) {
    REQUIRE_MESSAGE(file.subject != nullptr, file.name);
    for (const std::string_view line : split(file.text(), '\n')) {
      if (line.starts_with('{')) CHECK_MESSAGE(parse_tuning_line(line)->device == file.subject, line);
    }
  }
}

TEST_CASE("a shipped record decides its problem, and one of another text decides nothing while the others stay") {
  std::map<std::string, Engine> engines;
  for (const char* device : {"h100", "h200"}) engines.emplace(device, planning_engine(device, TuningPolicy::records));
  std::size_t followed = 0, stale = 0;
  for (const TuningRecord& record : shipped()) {
    const auto own = std::ranges::find_if(engines, [&](const auto& known) {
      TuningRecord named = record;
      named.device = known.first;
      return tuning::same_problem(named, record);
    });
    REQUIRE_MESSAGE(own != engines.end(), "the test knows no " << record.device);
    Engine& engine = own->second;
    Request request{.kernel = record.kernel};
    request.dims = record.dims;
    request.types = record.types;
    request.params = record.pins;
    const auto plan = engine.plan(request);
    REQUIRE_MESSAGE(plan, tuning_line(record));
    const auto pinned = engine.plan(tuning::pinned(request, record));
    if (!pinned || tuning::digest_of(*pinned, engine.emit(*pinned).value()) != record.digest) {
      ++stale;
      CHECK_MESSAGE((plan->record.empty() || plan->record.find("measured with") != std::string::npos), plan->record);
      continue;
    }
    ++followed;
    CHECK_MESSAGE(plan->record.starts_with("shipped: "), tuning_line(record));
    for (const auto& [name, value] : plan->config) CHECK(record.params.at(name) == value);
  }
  MESSAGE(followed << " shipped records decide, " << stale << " are of other templates");
  Engine off = planning_engine("h200", TuningPolicy::off);
  Request large{.kernel = "gemm"};
  large.dims = {{"M", 4096}, {"N", 4096}, {"K", 4096}};
  CHECK(off.plan(large)->record.empty());
}

TEST_CASE("the driver's and the facts' name of a device are one model") {
  TuningRecord measured;
  measured.device = "NVIDIA H200";
  TuningRecord named = measured;
  named.device = "h200";
  CHECK(tuning::problem_key(measured) == tuning::problem_key(named));
  named.device = "h100";
  CHECK(tuning::problem_key(measured) != tuning::problem_key(named));
  measured.device = "NVIDIA H100 80GB HBM3";
  CHECK(tuning::problem_key(measured) == tuning::problem_key(named));
  measured.device = "NVIDIA H100 PCIe";
  CHECK(tuning::problem_key(measured) != tuning::problem_key(named));
}

}  // namespace tma_jit
