#include "emulator/replay.h"

#include <cstring>

#include "emulator/devices.h"
#include "emulator/driver/launch.h"
#include "emulator/driver/library.h"
#include "support/engines.h"
#include "trial.h"

namespace tma_jit::testing {
namespace {

struct Region {
  std::uint64_t address;
  std::vector<std::uint8_t> before, after;
  emulator::check::Written* written;  // null: all of it is
  std::vector<std::uint64_t> written_before;
};

struct Launched {
  emulator::driver::Kernel* kernel = nullptr;
  CUlaunchConfig config{};
  std::vector<CUlaunchAttribute> attributes;
  std::vector<std::vector<std::uint8_t>> arguments;
  std::vector<Region> memory;
};

Launched* recording = nullptr;                                  // receives the next launch
decltype(driver::Api::launch_kernel_ex) real_launch = nullptr;  // the same function for every device

std::vector<std::uint8_t> bytes_at(std::uint64_t address, std::uint64_t bytes) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(address);
  return {from, from + bytes};
}

void record(const CUlaunchConfig& config, CUfunction function, void** arguments) {
  Launched& launched = *std::exchange(recording, nullptr);
  launched.kernel = reinterpret_cast<emulator::driver::Kernel*>(function);
  launched.config = config;
  launched.attributes.assign(config.attrs, config.attrs + config.numAttrs);
  const auto& parameters = launched.kernel->program->parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    launched.arguments.push_back(bytes_at(reinterpret_cast<std::uint64_t>(arguments[i]), parameters[i].size));
  for (const emulator::Allocation& allocation : launched.kernel->library->device.memory.all()) {
    launched.memory.push_back(
        {allocation.begin, bytes_at(allocation.begin, allocation.end - allocation.begin), {}, allocation.written, {}});
    if (allocation.written != nullptr) launched.memory.back().written_before = allocation.written->state();
  }
}

CUresult recorded_launch(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  if (recording != nullptr) record(*config, function, arguments);
  return real_launch(config, function, arguments, extra);
}

driver::Provider recording_driver(const std::string& arch) {
  auto table = std::make_shared<driver::Api>(table_of(arch));
  real_launch = std::exchange(table->launch_kernel_ex, recorded_launch);
  return [table]() -> Result<driver::SharedApi> { return table; };
}

std::string said(const Request& request, const std::string& arch) {
  std::string text = request.file.empty() ? request.kernel : request.file;
  for (const auto& [type, choice] : request.types) text += fmt::format(" {}={}", type, name_of(choice));
  for (const auto& [param, value] : request.params) text += fmt::format(" {}={}", param, value);
  return text + " for " + arch;
}

}  // namespace

struct Replay::State {
  cli::Trial trial;
  Launched launched;
};

Replay::Replay(Engine& engine, const std::string& arch, const Request& request, bool check_reference)
    : name_(said(request, arch)) {
  device_of(arch).settings = {};
  device_of(arch).settings.references = check_reference;
  cli::DataChoices choices;
  choices.recipe = {cli::DataKind::integers, 1, true};
  auto trial = cli::prepare_trial(engine, request, std::move(choices));
  if (!trial) {
    fault_ = trial.error().error.text();
    return;
  }
  state_ = std::make_unique<State>(State{std::move(*trial), {}});
  recording = &state_->launched;
  const auto ran = cli::run_trial(engine, state_->trial);
  recording = nullptr;
  if (!ran) {
    fault_ = ran.error().error.text();
    return;
  }
  if (state_->launched.kernel == nullptr) {
    fault_ = "no kernel was launched: the problem is empty";
    return;
  }
  for (Region& region : state_->launched.memory) region.after = bytes_at(region.address, region.before.size());
  Request reference = request;
  reference.reference = true;
  if (!engine.plan(reference)) return;
  const auto check = cli::check_trial(engine, state_->trial);
  if (!check)
    fault_ = check.error().error.text();
  else if (!check->passed())
    fault_ = cli::describe(*check);
}

Replay::~Replay() = default;

const emulator::Program& Replay::program() const {
  return *state_->launched.kernel->program;
}

void Replay::restore() {
  for (const Region& region : state_->launched.memory) {
    std::memcpy(reinterpret_cast<void*>(region.address), region.before.data(), region.before.size());
    if (region.written != nullptr) region.written->set_state(region.written_before);
  }
}

bool Replay::unchanged() const {
  for (const Region& region : state_->launched.memory) {
    if (std::memcmp(reinterpret_cast<const void*>(region.address), region.after.data(), region.after.size()) != 0)
      return false;
  }
  return true;
}

ReplayResult Replay::run(const emulator::Settings& settings) {
  return run(settings, program());
}

ReplayResult Replay::run(const emulator::Settings& settings, const emulator::Program& program) {
  Launched& launched = state_->launched;
  restore();
  ReplayResult result;
  emulator::driver::Kernel kernel;
  kernel.library = launched.kernel->library;
  kernel.program = std::make_unique<const emulator::Program>(program);
  kernel.most_dynamic_shared = launched.kernel->most_dynamic_shared;
  kernel.large_clusters = launched.kernel->large_clusters;
  emulator::driver::Device& device = kernel.library->device;
  device.settings = settings;
  device.settings.warn = [&result](std::string_view text) { result.warnings.emplace_back(text); };
  launched.config.attrs = launched.attributes.data();
  std::vector<void*> arguments;
  for (auto& argument : launched.arguments) arguments.push_back(argument.data());
  try {
    emulator::driver::launch(kernel, launched.config, arguments.data());
    result.instructions = device.last.instructions;
  } catch (const emulator::Fault& fault) {
    result.report = fault.text();
  }
  device.settings = {};
  result.same = unchanged();
  return result;
}

Engine recording_engine(const std::string& arch, int processors) {
  Options options = sharing_options();
  if (processors > 0) {
    options.limits.emplace();
    options.limits->sm_count = processors;
    options.limits->multicast = true;
  }
  return engine_with(options, recording_driver(arch));
}

emulator::Settings bounded(emulator::Policy policy, std::uint64_t seed) {
  emulator::Settings settings;
  settings.policy = policy;
  settings.seed = seed;
  settings.polls_before_livelock = 1'000'000;
  settings.instruction_limit = 200'000'000;
  return settings;
}

}  // namespace tma_jit::testing
