// How long a start takes with tuning records present: an application that plans a hundred shapes of gemm, for each of
// which the application's file has a record, in a new process each time. Needs neither a GPU nor NVRTC.
//   speed_recorded_start [STARTS]
// Prints the medians over the starts: of planning the shapes, of tuning them, which finds all of them known, and of
// planning them without records.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <tma_jit/tma_jit.h>
#include <tma_jit/tuning.h>

#include "support/temporary_folder.h"
#include "tuning/problem_key.h"

namespace {

using namespace tma_jit;

constexpr int kShapes = 100;
using Times = std::array<double, 3>;  // milliseconds: making the engine, the first plan, the other plans

enum class How { plan, tune };

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "speed_recorded_start: %s\n", text.c_str());
  std::exit(1);
}

template <class T> T checked(Result<T> result) {
  if (!result) fail(result.error().text());
  return std::move(*result);
}

std::vector<Request> requests() {
  std::vector<Request> all(kShapes);
  for (int i = 0; i < kShapes; ++i) {
    all[static_cast<std::size_t>(i)].kernel = "gemm";
    all[static_cast<std::size_t>(i)].dims = {{"M", 64 + 8 * i}, {"N", 4096}, {"K", 4096}};
  }
  return all;
}

Engine engine_with(const std::filesystem::path& records) {
  Options options;
  options.device = Device::known("h200");
  options.use_cache = false;
  options.tuning.policy = records.empty() ? TuningPolicy::off : TuningPolicy::records;
  if (!records.empty()) options.tuning.records = {records};
  return Engine(std::move(options));
}

// Writes a record of what the planner chooses for every shape.
void make_records(const std::filesystem::path& file) {
  Engine engine = engine_with({});
  std::vector<TuningRecord> records;
  for (const Request& request : requests()) {
    const Plan plan = checked(engine.plan(request));
    TuningRecord record = tuning::problem_of(plan, checked(device_named("h200")));
    record.file = std::filesystem::path(plan.file).stem();
    record.digest = tuning::digest_of(plan, checked(engine.emit(plan)));
    record.params = {plan.config.begin(), plan.config.end()};
    record.us = record.preset_us = 10;
    records.push_back(std::move(record));
  }
  if (const auto merged = merge_tuning_file(file, records); !merged) fail(merged.error().text());
}

double milliseconds_since(std::chrono::steady_clock::time_point& start) {
  const auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::milli>(now - std::exchange(start, now)).count();
}

// What the application does.
Times start(How how, const std::filesystem::path& records) {
  const std::vector<Request> shapes = requests();
  Times times{};
  auto since = std::chrono::steady_clock::now();
  Engine engine = engine_with(how == How::plan ? records : std::filesystem::path());
  times[0] = milliseconds_since(since);
  if (how == How::tune) {
    TuneOptions options;
    options.records = records;
    const auto results = checked(tune(engine, shapes, options));
    times[1] = milliseconds_since(since);
    for (const TuneResult& result : results) {
      if (!result.known) fail("a record was not found");
    }
    return times;
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Plan plan = checked(engine.plan(shapes[i]));
    if (!records.empty() && !plan.record.starts_with(records.string())) fail("a record did not decide");
    if (i == 0) times[1] = milliseconds_since(since);
  }
  times[2] = milliseconds_since(since);
  return times;
}

// Starts this program anew for one start.
Times started(const std::string& program, How how, const std::filesystem::path& records) {
  const char* const verb = how == How::plan ? " --plan '" : " --tune '";
  std::FILE* child = ::popen((program + verb + records.string() + "'").c_str(), "r");
  Times times{};
  if (child == nullptr || std::fscanf(child, "%lf %lf %lf", times.data(), &times[1], &times[2]) != 3 ||
      ::pclose(child) != 0) {
    fail("a start failed");
  }
  return times;
}

struct Case {
  const char* name;
  How how;
  std::filesystem::path records;
};

void report(const Case& one, const std::string& program, int starts) {
  std::array<std::vector<double>, 4> columns;
  for (int i = 0; i < starts; ++i) {
    const Times times = started(program, one.how, one.records);
    for (std::size_t j = 0; j < times.size(); ++j) columns[j].push_back(times[j]);
    columns[3].push_back(times[1] + times[2]);
  }
  for (auto& column : columns) std::ranges::sort(column);
  const auto median = [&](std::size_t j) { return columns[j][columns[j].size() / 2]; };
  std::printf("| %-15s | %10.2f | %10.2f | %10.2f | %10.2f |\n", one.name, median(0), median(1), median(2),
              median(0) + median(3));
}

}  // namespace

int main(int count, char** words) {
  const std::string verb = count > 2 ? words[1] : "";
  if (verb == "--plan" || verb == "--tune") {
    const Times times = start(verb == "--plan" ? How::plan : How::tune, words[2]);
    std::printf("%f %f %f\n", times[0], times[1], times[2]);
    return 0;
  }
  const int starts = count > 1 ? std::max(std::atoi(words[1]), 1) : 40;
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "tuned.jsonl";
  make_records(file);
  std::printf("| ms, median      | the engine | first call | other calls |       all |\n|---|---:|---:|---:|---:|\n");
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  report({"tune, known", How::tune, file}, self, starts);
  report({"plans, recorded", How::plan, file}, self, starts);
  report({"plans, without", How::plan, {}}, self, std::max(starts / 8, 1));
  return 0;
}
