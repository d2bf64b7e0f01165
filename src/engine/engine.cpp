#include <tma_jit/engine.h>

#include "core/failure.h"
#include "core/sm_budget.h"
#include "engine/state.h"
#include "plan/example.h"
#include "plan/planner.h"
#include "source/emit.h"
#include "source/preamble.h"
#include "tuning/conditions.h"

namespace tma_jit {
namespace {

constexpr std::size_t kCrashesAvoided = 16;  // most configurations passed over in one plan; more point to another cause

source::HeaderLookup header_lookup(const Engine::State& state) {
  return [&state](std::string_view name) { return state.templates.header(name); };
}

source::EmitOptions emit_options(Engine::State& state) {
  return {.line_info = state.options.line_info,
          .form = state.device.takes(),
          .header = header_lookup(state),
          .shipped = state.templates.headers_fixed()};
}

std::string words_of(const Plan& plan) {
  std::string words;
  for (const auto& [name, value] : plan.config) words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, value);
  return words;
}

// Replaces a configuration that is known to crash the compiler by the next one that satisfies the request.
Result<Plan> plan_around_crashes(Engine::State& state, const Request& request, const DeviceInfo& facts,
                                 plan::TemplatePointers candidates) {
  std::vector<plan::Configuration> avoided;
  std::vector<std::string> told;
  std::string first;
  while (true) {
    auto plan = plan::make_plan(request, facts, candidates, avoided);
    if (!plan && !avoided.empty()) {
      return tl::make_unexpected(Error{ErrorCode::crash, first, "no other configuration fits the request"});
    }
    if (!plan || state.builder.crashes().empty()) return plan;
    const auto draft = state.draft(*plan);
    const auto crash = draft ? state.builder.crash_of(*draft) : std::nullopt;
    if (!crash) {
      plan->avoided = std::move(told);
      return plan;
    }
    const std::string words = words_of(*plan);
    if (first.empty()) first = crash->reason;
    if (!crash->mentioned) state.log->warn("{} is planned without {}: {}", request.kernel, words, crash->reason);
    if (avoided.size() >= kCrashesAvoided) return tl::make_unexpected(Error{ErrorCode::crash, first, {}});
    told.push_back(fmt::format("{}: {}", words, crash->reason));
    avoided.push_back({plan->file, plan->config});
    ++state.counters.crashes_avoided;
  }
}

// Calls a planner with the usable files of a kernel: all of them for a request of one file, whose error lists them.
template <class Plan>
auto with_templates(Engine::State& state, const Request& request, const DeviceInfo& facts, Plan&& plan) {
  using Planned = std::invoke_result_t<Plan, const std::vector<templates::TemplatePointer>&>;
  const auto selection = state.select(request.kernel, request.file.empty() ? facts.arch : std::string());
  if (!selection) return Planned(tl::make_unexpected(selection.error()));
  Planned planned = plan(selection->templates());
  if (!planned) return Planned(tl::make_unexpected(selection->explained(std::move(planned).error())));
  return planned;
}

}  // namespace

Engine::Engine(Options options) : Engine(std::make_shared<State>(std::move(options), driver::load)) {}
Engine::Engine(std::shared_ptr<State> state) : state_(std::move(state)) {}
Engine::Engine(Engine&&) noexcept = default;

Engine& Engine::operator=(Engine&& other) noexcept {
  if (state_ != nullptr && this != &other) state_->end_threads();
  state_ = std::move(other.state_);
  return *this;
}

Engine::~Engine() {
  if (state_ != nullptr) state_->end_threads();
}

// The tuning first, because it may wait for what prepares.
void Engine::State::end_threads() {
  live_tuning.end();
  preparations.end();
}

// Where TMA is disabled, all files are selected, because errors name those that are left out for that.
Result<engine::Selection> Engine::State::select(std::string_view kernel, std::string_view target) {
  templates::ArchFilter serving;
  if (!target.empty() && !options.disable_tma.value_or(false)) {
    serving = [target](std::string_view listed) { return plan::serves(listed, target); };
  }
  TMA_JIT_ASSIGN(auto found, templates.find(kernel, serving));
  return engine::Selection::of(std::move(found), options.disable_tma.value_or(false), header_lookup(*this));
}

Result<engine::Selection> Engine::State::select_pinned(std::string_view kernel, std::string_view stem) {
  TMA_JIT_ASSIGN(auto file, templates.find_pinned(kernel, stem));
  std::vector<templates::TemplatePointer> found;
  if (file != nullptr) found.push_back(std::move(file));
  return engine::Selection::of(std::move(found), options.disable_tma.value_or(false), header_lookup(*this));
}

Result<DeviceInfo> Engine::State::facts_for(const Request& request) {
  return device.facts().map([&](DeviceInfo facts) { return within_budget(std::move(facts), request); });
}

Result<Plan> Engine::State::search(const Request& request, const DeviceInfo& facts) {
  return with_templates(*this, request, facts,
                        [&](const auto& candidates) { return plan_around_crashes(*this, request, facts, candidates); });
}

Result<Plan> Engine::State::plan(const Request& request, std::optional<Plan> searched) {
  TMA_JIT_ASSIGN(const DeviceInfo facts, facts_for(request));
  const engine::Records::Planning following = planning(facts);
  std::optional<Plan> made = records.recorded(request, facts, following);
  if (!made) {
    made = std::move(searched);
    if (!made) {
      TMA_JIT_ASSIGN(made, search(request, facts));
    }
    if (auto advised = records.advised(request, *made, facts, following)) made = std::move(advised);
  }
  ++counters.plans;
  if (!made->reason.empty()) log->info("{}: {}", request.kernel, made->reason);
  return *std::move(made);
}

// A file is found, and parsed, when a record names it.
engine::Records::Planning Engine::State::planning(const DeviceInfo& facts) {
  return {[this](std::string_view kernel, std::string_view stem) {
            const auto selection = select_pinned(kernel, stem);
            return selection && !selection->templates().empty() ? selection->templates().front() : nullptr;
          },
          [this, &facts](const Request& pinned) -> Result<Plan> {
            TMA_JIT_ASSIGN(const engine::Selection selection, select_pinned(pinned.kernel, pinned.file));
            return plan_around_crashes(*this, pinned, facts, selection.templates());
          },
          [this](std::string_view kernel, std::string_view stem) {
            return options.disable_tma.value_or(false) ? nullptr : templates.embedded_declarations(kernel, stem);
          },
          [this](std::string_view kernel, std::string_view stem) {
            return options.disable_tma.value_or(false) ? std::string() : templates.embedded_name(kernel, stem);
          },
          [this](const templates::Template& file, source::HookNeeds hooks) {
            return source::reachable_headers(
                {{source::kPreambleName, source::preamble_includes(hooks)}, {file.file(), file.text()}},
                header_lookup(*this));
          },
          templates.headers_fixed(),
          tuning::conditions_of(options)};
}

Result<Source> Engine::State::emit(const Plan& plan) {
  return source::emit(plan, emit_options(*this));
}

Result<source::Draft> Engine::State::draft(const Plan& plan) {
  return source::draft(plan, emit_options(*this));
}

Result<engine::Built> Engine::State::build(const Plan& plan) {
  TMA_JIT_ASSIGN(const source::Draft draft, this->draft(plan));
  auto built = builder.build(draft);
  if (built && built->artifact->compiled) misses.record(plan);
  return built;
}

Result<Plan> Engine::plan(const Request& request) {
  return state_->plan(request);
}

Result<Enumeration> Engine::enumerate(const Request& request) {
  TMA_JIT_ASSIGN(const DeviceInfo facts, state_->facts_for(request));
  return with_templates(*state_, request, facts,
                        [&](const auto& candidates) { return plan::enumerate(request, facts, candidates); });
}

Result<std::vector<NamedTensor>> Engine::tensors_of(const Request& request) {
  TMA_JIT_ASSIGN(const DeviceInfo facts, state_->facts_for(request));
  return with_templates(*state_, request, facts,
                        [&](const auto& candidates) { return plan::tensors_of(request, facts, candidates); });
}

Result<std::vector<Candidate>> Engine::candidates(const Request& request, std::size_t most) {
  TMA_JIT_ASSIGN(const DeviceInfo facts, state_->facts_for(request));
  return with_templates(*state_, request, facts,
                        [&](const auto& found) { return plan::rank(request, facts, found, most); });
}

Result<Source> Engine::emit(const Plan& plan) {
  return state_->emit(plan);
}

Result<std::string> Engine::emit_standalone(const Plan& plan) {
  return source::standalone(plan, emit_options(*state_));
}

Result<Key> Engine::key(const Plan& plan) {
  TMA_JIT_ASSIGN(const source::Draft draft, state_->draft(plan));
  return state_->builder.key(draft);
}

Result<Artifact> Engine::build(const Plan& plan) {
  TMA_JIT_ASSIGN(const engine::Built built, state_->build(plan));
  return *built.artifact;
}

Result<std::string> Engine::build_ptx(const Plan& plan) {
  TMA_JIT_ASSIGN(const Source source, emit(plan));
  return state_->builder.ptx(source);
}

Result<void> Engine::add_template(std::string name, std::string text) {
  return state_->templates.add(std::move(name), std::move(text));
}

Result<void> Engine::add_template_file(const std::filesystem::path& file) {
  return state_->templates.add_file(file);
}

std::vector<Result<KernelInfo>> Engine::kernels(std::optional<std::string_view> kernel) {
  std::vector<Result<KernelInfo>> infos;
  for (const auto& found : state_->templates.all(kernel)) {
    infos.push_back(found.map([](const auto& file) { return templates::kernel_info(*file); }));
  }
  return infos;
}

Result<std::vector<Request>> Engine::presets(std::string_view kernel, const std::map<std::string, std::int64_t>& dims) {
  TMA_JIT_ASSIGN(const DeviceInfo facts, device());
  return with_templates(*state_, {.kernel = std::string(kernel)}, facts,
                        [&](const auto& candidates) { return plan::preset_requests(facts, candidates, dims); });
}

Result<Request> Engine::example(const Request& request, ExampleSize size) {
  TMA_JIT_ASSIGN(const DeviceInfo facts, state_->facts_for(request));
  return with_templates(*state_, request, facts,
                        [&](const auto& candidates) { return plan::example(request, facts, candidates, size); });
}

Result<std::vector<Request>> Engine::examples(std::string_view kernel,
                                              const std::map<std::string, std::int64_t>& dims) {
  TMA_JIT_ASSIGN(const DeviceInfo facts, device());
  return with_templates(*state_, {.kernel = std::string(kernel)}, facts,
                        [&](const auto& candidates) { return plan::preset_examples(facts, candidates, dims); });
}

Result<DeviceInfo> Engine::device() {
  return state_->device.facts();
}

void Engine::seal(Seal seal) {
  state_->misses.seal(seal);
}

Stats Engine::stats() const {
  Stats stats = state_->counters.snapshot();
  state_->builder.add_cache_stats(stats.cache);
  state_->builder.compiler().add_to(stats);
  return stats;
}

const std::filesystem::path& Engine::cache_dir() const {
  return state_->options.cache_dir;
}

}  // namespace tma_jit
