#include "engine/records.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "core/failure.h"
#include "engine/state.h"
#include "plan/planner.h"
#include "plan/problem.h"
#include "source/preamble.h"
#include "tuning/conditions.h"
#include "tuning/pinned.h"
#include "tuning/problem_key.h"
#include "tuning/record_file.h"
#include "tuning/shipped_digests.h"
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

// Returns the problem of a request as a record without a choice.
TuningRecord record_of(const Request& request, plan::Problem&& problem, const DeviceInfo& device,
                       std::string conditions) {
  TuningRecord record;
  record.kernel = request.kernel;
  record.pins = request.params;
  record.conditions = std::move(conditions);
  record.types = std::move(problem.types);
  record.dims = std::move(problem.dims);
  record.hooks = tuning::digest_of(problem.hooks);
  record.device = device.name;
  record.sm_count = device.sm_count;
  return record;
}

// Returns the conditions whose records may decide: those of the request before those that are usual.
std::vector<std::string> conditions_for(const Request& request, const Records::Planning& planning) {
  std::vector<std::string> conditions = {tuning::conditions_of(request, planning.conditions)};
  if (!conditions.front().empty()) conditions.emplace_back();
  return conditions;
}

// Returns the request's plan with the configuration that was advised.
Result<Plan> plan_by(tuning::Advice advice, const Request& request, const Records::Planning& planning) {
  std::string words = words_of(advice);
  TMA_JIT_ASSIGN(Plan made, planning.plan(tuning::pinned(request, std::move(advice.record))));
  made.pins = request.params;
  made.record = std::move(words);
  return made;
}

// `tensors`: hooks read tensors of the request.
source::HookNeeds needs_of(const Request& request, bool tensors) {
  source::HookNeeds needs = {.tensors = tensors};
  for (const auto& [name, text] : request.hooks) source::add_needs(text, needs);
  return needs;
}

constexpr std::size_t kFaultsTold = 16;

// Returns the faults, as many as a warning has room for.
std::string told(const std::vector<std::string>& faults) {
  std::string words = joined(std::span(faults).first(std::min(faults.size(), kFaultsTold)), "; ");
  if (faults.size() > kFaultsTold) words += fmt::format("; and {} more", faults.size() - kFaultsTold);
  return words;
}

}  // namespace

Records::Records(TuningOptions options, std::filesystem::path user_file, Carried carried, const Logger& log)
    : options_(std::move(options)), user_file_(std::move(user_file)), carried_(std::move(carried)), log_(log) {}

void Records::follow(std::vector<TuningRecord> records) {
  Members& members = members_.get();
  const std::lock_guard lock(members.mutex);
  members.followed.insert(members.followed.begin(), std::make_move_iterator(records.begin()),
                          std::make_move_iterator(records.end()));
  members.book.reset();
}

void Records::follow(std::vector<tuning::SharedLine> lines) {
  if (lines.empty()) return;
  Members& members = members_.get();
  const std::lock_guard lock(members.mutex);
  members.followed_lines.insert(members.followed_lines.end(), std::make_move_iterator(lines.begin()),
                                std::make_move_iterator(lines.end()));
  members.book.reset();
}

// Warns once of each place with faults, and names them.
void Records::add(tuning::FileLayer&& found, std::vector<tuning::SharedLayer>& layers) const {
  if (!found.faults.empty()) {
    log_->warn("{} lines of records of tuning are left out: {}", found.faults.size(), told(found.faults));
  }
  layers.push_back(std::move(found.layer));
}

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
    add(*std::move(found), layers);
  }
  for (cache::Layers::Records& carried : carried_()) {
    add(tuning::layer_of(std::move(carried.layer), std::move(carried.lines)), layers);
  }
  return layers;
}

std::shared_ptr<const tuning::RecordBook> Records::book(const DeviceInfo& device) {
  Members& members = members_.get();
  const std::lock_guard lock(members.mutex);
  if (members.book != nullptr && members.device == device.name) return members.book;
  if (!members.layers) members.layers = read();
  auto book = std::make_shared<tuning::RecordBook>();
  std::string lines;
  for (const tuning::SharedLine& line : members.followed_lines) lines.append(line.text).append("\n");
  book->add_layer("tuned in this process", members.followed, std::move(lines));
  for (const tuning::SharedLayer& layer : *members.layers) book->add_layer(layer);
  book->add_layer(tuning::shipped_layer(device.name));
  members.device = device.name;
  return members.book = std::move(book);
}

std::string Records::digest(const templates::Template& file, source::HookNeeds hooks, const Planning& planning) {
  const tuning::TemplateDigests::Asked asked{file.file(), file.text(), hooks};
  Members& members = members_.get();
  if (planning.headers_fixed) {
    const std::lock_guard lock(members.mutex);
    if (auto known = members.digests.find(asked)) return *std::move(known);
  }
  const auto headers = planning.headers(file, hooks);
  if (!headers) return {};
  std::string digest = tuning::digest_of({asked.file, asked.body, file.used_text(), *headers});
  if (planning.headers_fixed) {
    const std::lock_guard lock(members.mutex);
    members.digests.keep(asked, digest);
  }
  return digest;
}

std::string Records::digest(std::string_view kernel, std::string_view stem, source::HookNeeds hooks,
                            const Planning& planning) {
  const std::string name = hooks == source::HookNeeds{} ? planning.shipped(kernel, stem) : std::string();
  if (const auto shipped = name.empty() ? std::nullopt : tuning::shipped_digest(name)) return std::string(*shipped);
  const auto file = planning.file(kernel, stem);
  return file != nullptr ? digest(*file, hooks, planning) : std::string();
}

std::string Records::digest(const Request& request, std::string_view stem, const Planning& planning) {
  const auto file = request.operands.empty() ? nullptr : planning.file(request.kernel, stem);
  const bool operands = file != nullptr && plan::has_tensor_operands(*file, request);
  return digest(request.kernel, stem, needs_of(request, operands), planning);
}

bool Records::is_current(const TuningRecord& record, source::HookNeeds hooks, const Planning& planning) {
  return !record.digest.empty() && record.digest == digest(record.kernel, record.file, hooks, planning);
}

template <class File, class Use>
void Records::visit(const Lookup& lookup, const tuning::RecordBook& book, const File& file, const Use& use) {
  const auto& [request, device, planning, conditions] = lookup;
  for (const std::string_view stem : book.files(request.kernel)) {
    const templates::TemplatePointer declared = file(stem);
    auto problem = declared != nullptr ? plan::problem_of(*declared, request, device) : std::nullopt;
    if (!problem) continue;
    const source::HookNeeds hooks = needs_of(request, problem->tensor_operands);
    const auto current = [&](const TuningRecord& record) { return is_current(record, hooks, planning); };
    auto advice = book.of(record_of(request, *std::move(problem), device, conditions), current);
    if (advice && use(*std::move(advice))) return;
  }
}

std::optional<Plan> Records::recorded(const Request& request, const DeviceInfo& device, const Planning& planning) {
  if (options_.policy == TuningPolicy::off || !tuning::is_open(request)) return std::nullopt;
  std::optional<Plan> decided;
  const auto file = [&](std::string_view stem) { return planning.file(request.kernel, stem); };
  for (const std::string& conditions : conditions_for(request, planning)) {
    visit({request, device, planning, conditions}, *book(device), file, [&](tuning::Advice&& advice) {
      Result<Plan> made = plan_by(std::move(advice), request, planning);
      if (!made) return false;
      decided = *std::move(made);
      return true;
    });
    if (decided) break;
  }
  return decided;
}

// A request without tensors is looked up by the declarations of types, dims and hooks, and no other line of a manifest
// is read.
std::optional<tuning::Advice> Records::known(const Request& request, const DeviceInfo& device, const Planning& planning,
                                             const tuning::RecordBook& book) {
  std::optional<tuning::Advice> found;
  if (!tuning::is_open(request)) return found;
  const auto file = [&](std::string_view stem) {
    auto declared = request.tensors.empty() && request.operands.empty() ? planning.declarations(request.kernel, stem)
                                                                        : templates::TemplatePointer();
    return declared != nullptr ? declared : planning.file(request.kernel, stem);
  };
  const std::string conditions = tuning::conditions_of(request, planning.conditions);
  visit({request, device, planning, conditions}, book, file, [&](tuning::Advice&& advice) {
    // Without tensors they are packed, as every configuration takes them; a plan makes sure.
    if (!request.tensors.empty()) {
      const auto chosen = planning.file(request.kernel, advice.record.file);
      if (chosen == nullptr || !plan::fits(*chosen, tuning::pinned(request, advice.record), device)) return false;
    }
    found = std::move(advice);
    return true;
  });
  return found;
}

std::optional<Plan> Records::advised(const Request& request, const Plan& preset, const DeviceInfo& device,
                                     const Planning& planning) {
  if (options_.policy == TuningPolicy::off || !tuning::is_open(request)) return std::nullopt;
  const source::HookNeeds hooks = needs_of(request, source::has_tensor_operand(preset));
  const auto current = [&](const TuningRecord& record) { return is_current(record, hooks, planning); };
  for (std::string& conditions : conditions_for(request, planning)) {
    auto advice = book(device)->find(tuning::problem_of(preset, device, std::move(conditions)), current);
    if (!advice) continue;
    const bool nearest = advice->nearest;
    Result<Plan> made = plan_by(*std::move(advice), request, planning);
    if (!made || (nearest && made->work.cycles > preset.work.cycles * kWorthANeighbour)) continue;
    return *std::move(made);
  }
  return std::nullopt;
}

bool Records::know(const TuningRecord& problem, const DeviceInfo& device) {
  return book(device)->of(problem).has_value();
}

}  // namespace engine

std::filesystem::path tuning_file(const Engine& engine) {
  return EngineInternals::state_of(engine).records.user_file();
}

void Engine::follow(std::vector<TuningRecord> records) {
  state_->records.follow(std::move(records));
}

}  // namespace tma_jit
