#include "engine/records.h"

#include <fmt/format.h>

#include "engine/state.h"
#include "plan/problem.h"
#include "tuning/pinned.h"
#include "tuning/problem_key.h"
#include "tuning/record_file.h"
#include "tuning/shipped_records.h"

namespace tma_jit {
namespace engine {
namespace {

constexpr double kWorthANeighbour = 1.0;  // largest estimated cycles of a near problem's configuration, relative to the
                                          // preset's

std::string words_of(const tuning::Advice& advice) {
  const TuningRecord& record = advice.record;
  std::string words = fmt::format("{}: {:.2f} us, {:.2f} without it", advice.origin, record.us, record.preset_us);
  if (!advice.nearest) return words;
  words += ", measured with";
  for (const auto& [name, value] : record.dims) words += fmt::format(" {}={}", name, value);
  return words;
}

// Returns the problem as a record without a choice.
TuningRecord record_of(const std::string& kernel, const plan::Problem& problem, const DeviceInfo& device) {
  TuningRecord record;
  record.kernel = kernel;
  record.types = problem.types;
  record.dims = problem.dims;
  record.hooks = tuning::digest_of(problem.hooks);
  record.device = device.name;
  record.sm_count = device.sm_count;
  return record;
}

}  // namespace

bool is_open(const Request& request) {
  return request.params.empty() && request.file.empty() && !request.reference;
}

Records::Records(TuningOptions options, std::filesystem::path user_file, const Logger& log)
    : options_(std::move(options)), user_file_(std::move(user_file)), log_(log) {}

void Records::follow(const std::vector<TuningRecord>& records) {
  Members& members = members_.get();
  const std::lock_guard lock(members.mutex);
  members.followed.insert(members.followed.begin(), records.begin(), records.end());
  members.book.reset();
}

// Warns once of each file with faults, quoting the first fault.
std::vector<tuning::SharedLayer> Records::read() const {
  std::vector<tuning::SharedLayer> layers;
  std::vector<std::filesystem::path> files = options_.records;
  if (!user_file_.empty()) files.push_back(user_file_);
  for (const std::filesystem::path& file : files) {
    auto found = tuning::read_layer(file);
    if (!found) {
      // The cache itself warns of a cache folder that cannot be read.
      const auto level = file == user_file_ ? spdlog::level::debug : spdlog::level::warn;
      log_->log(level, "records of tuning are left out: {}", found.error().message);
      continue;
    }
    if (!found->faults.empty()) {
      log_->warn("{} lines of records of tuning are left out, the first of them {}", found->faults.size(),
                 found->faults.front());
    }
    layers.push_back(std::move(found->layer));
  }
  layers.push_back(tuning::shipped_layer());
  return layers;
}

std::shared_ptr<const tuning::RecordBook> Records::book() {
  Members& members = members_.get();
  const std::lock_guard lock(members.mutex);
  if (members.book != nullptr) return members.book;
  if (!members.layers) members.layers = read();
  auto book = std::make_shared<tuning::RecordBook>();
  book->add_layer("tuned in this process", members.followed);
  for (const tuning::SharedLayer& layer : *members.layers) book->add_layer(layer);
  return members.book = std::move(book);
}

std::string Records::digest(const Plan& plan, const Planning& planning) {
  Members& members = members_.get();
  if (planning.headers_fixed) {
    const std::lock_guard lock(members.mutex);
    if (auto known = members.digests.find(plan)) return *std::move(known);
  }
  const Result<Source> source = planning.emit(plan);
  if (!source) return {};
  std::string digest = tuning::digest_of(plan, *source);
  if (planning.headers_fixed) {
    const std::lock_guard lock(members.mutex);
    members.digests.keep(plan, digest);
  }
  return digest;
}

std::optional<Plan> Records::recorded(const Request& request, const DeviceInfo& device, const Planning& planning) {
  if (options_.policy == TuningPolicy::off || !is_open(request)) return std::nullopt;
  const auto records = book();
  for (const std::string_view stem : records->files(request.kernel)) {
    const auto file = planning.file(request.kernel, stem);
    const auto problem = file != nullptr ? plan::problem_of(*file, request, device) : std::nullopt;
    if (!problem) continue;
    auto advice = records->of(record_of(request.kernel, *problem, device));
    if (!advice) continue;
    Result<Plan> made = planning.plan(tuning::pinned(request, std::move(advice->record)));
    if (!made || digest(*made, planning) != advice->record.digest) continue;
    made->record = words_of(*advice);
    return std::move(*made);
  }
  return std::nullopt;
}

std::optional<Plan> Records::advised(const Request& request, const Plan& preset, const DeviceInfo& device,
                                     const Planning& planning) {
  if (options_.policy == TuningPolicy::off || !is_open(request)) return std::nullopt;
  const auto advice = book()->find(tuning::problem_of(preset, device));
  if (!advice) return std::nullopt;
  Result<Plan> made = planning.plan(tuning::pinned(request, advice->record));
  if (!made || digest(*made, planning) != advice->record.digest) return std::nullopt;
  if (advice->nearest && made->work.cycles > preset.work.cycles * kWorthANeighbour) return std::nullopt;
  made->record = words_of(*advice);
  return std::move(*made);
}

bool Records::know(const Plan& plan, const DeviceInfo& device) {
  return book()->of(tuning::problem_of(plan, device)).has_value();
}

}  // namespace engine

std::filesystem::path tuning_file(const Engine& engine) {
  return EngineInternals::state_of(engine).records.user_file();
}

void Engine::follow(const std::vector<TuningRecord>& records) {
  state_->records.follow(records);
}

}  // namespace tma_jit
