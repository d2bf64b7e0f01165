#include "check_emulated.h"

#include <algorithm>

#include <tma_jit/emulator.h>

#include "describe.h"
#include "progress.h"
#include "text.h"
#include "trial.h"

namespace tma_jit::cli {
namespace {

constexpr int kFewProcessors = 4;
constexpr int kLargestCluster = 8;

// Returns the settings in --device if that is the emulator, with `arch` as target.
Outcome<EmulatorSettings> emulator_settings(const Settings& settings, const CheckedFile& file,
                                            const std::string& arch) {
  EmulatorSettings emulator;
  if (is_emulated(settings)) {
    CLI_ASSIGN(emulator, parse_emulator(settings.device));
  }
  emulator.arch = arch;
  emulator.references = true;
  if (emulator.processors == 0) emulator.processors = file.processors;
  return emulator;
}

// A device and the problems to run on it.
struct Runs {
  EmulatorSettings emulator;
  Engine engine;
  std::vector<Request> requests;
};

Outcome<Engine> emulated_engine(const Settings& settings, const CheckedFile& file, const EmulatorSettings& emulator) {
  Settings one = settings;
  one.device = device_text(emulator);
  one.arch = emulator.arch;
  CLI_ASSIGN(Engine engine, make_engine(one));
  CLI_CHECK(engine.add_template_file(file.path));
  return engine;
}

// Returns "" if the result is right, judged as by `run --check`. Without a reference nothing is compared.
Outcome<std::string> emulate(Engine& engine, const CheckedFile& file, const Request& request) {
  DataChoices choices;
  choices.recipe.strays = true;
  choices.consistent = true;
  choices.bare = true;
  CLI_ASSIGN(Trial trial, prepare_trial(engine, request, std::move(choices)));
  CLI_CHECK(run_trial(engine, trial));
  if (!file.kernel->files.front().reference) return std::string();
  CLI_ASSIGN(const TrialCheck check, check_trial(engine, trial));
  return check.passed() ? std::string() : describe(check);
}

// Returns the problems for an emulated device; none where there is no device.
Outcome<Runs> find_runs(const Settings& settings, const CheckedFile& file, EmulatorSettings emulator) {
  CLI_ASSIGN(Engine engine, emulated_engine(settings, file, emulator));
  std::vector<Request> requests;
  if (engine.device()) {
    CLI_ASSIGN(std::vector<Request> found, engine.examples(file.kernel->name, file.dims));
    requests = of_file(std::move(found), file);
  }
  return Runs{std::move(emulator), std::move(engine), std::move(requests)};
}

std::ptrdiff_t refusals(Runs& runs) {
  return std::ranges::count_if(runs.requests, [&](const Request& one) { return !runs.engine.plan(one); });
}

// Finds problems for few processors, so that persistent blocks get several tiles; for more where some preset has none
// on few, as one of clusters whose blocks fill a processor each.
Outcome<Runs> choose_runs(const Settings& settings, const CheckedFile& file, EmulatorSettings emulator) {
  if (emulator.processors > 0) return find_runs(settings, file, std::move(emulator));
  emulator.processors = kFewProcessors;
  CLI_ASSIGN(Runs few, find_runs(settings, file, emulator));
  const std::ptrdiff_t refused = refusals(few);
  if (refused == 0) return few;
  emulator.processors = kLargestCluster;
  CLI_ASSIGN(Runs more, find_runs(settings, file, std::move(emulator)));
  return refusals(more) < refused ? std::move(more) : std::move(few);
}

Json run_one(Engine& engine, const CheckedFile& file, const Request& request) {
  const auto plan = engine.plan(request);
  Json object = Json::object();
  if (plan) {
    object = {{"types", type_words(*plan)}, {"config", config_words(*plan)}, {"dims", dim_words(*plan)}};
  }
  const auto fault = emulate(engine, file, request);
  object["fault"] = fault ? *fault : fault.error().error.text();
  return object;
}

// Returns the command that reproduces the failure.
std::string command_of(const CheckedFile& file, const EmulatorSettings& emulator, const Request& request) {
  std::string command = fmt::format("tma-jit run {}", file.path);
  for (const auto& [name, value] : request.dims) command += fmt::format(" {}={}", name, value);
  for (const auto& [name, type] : request.types) command += fmt::format(" {}={}", name, name_of(type));
  for (const auto& [name, value] : request.params) command += fmt::format(" {}={}", name, value);
  for (const auto& [name, text] : request.hooks) command += fmt::format(" --hook '{}={}'", name, text);
  return command + fmt::format(" --device {} --check", device_text(emulator));
}

std::size_t distinct_dims(const Json& rows) {
  std::vector<std::string> dims;
  for (const Json& row : rows) dims.push_back(row.value("dims", ""));
  std::sort(dims.begin(), dims.end());
  return static_cast<std::size_t>(std::unique(dims.begin(), dims.end()) - dims.begin());
}

}  // namespace

std::vector<Request> of_file(std::vector<Request> requests, const CheckedFile& file) {
  const std::string stem = stem_of(file.path);
  std::erase_if(requests, [&](const Request& request) { return !request.file.empty() && request.file != stem; });
  for (Request& request : requests) {
    request.file = stem;
    for (const auto& [name, text] : file.hooks) request.hooks[name] = text;
  }
  return requests;
}

Outcome<Emulated> check_emulated(const Settings& settings, const CheckedFile& file, const std::string& arch) {
  CLI_ASSIGN(EmulatorSettings chosen, emulator_settings(settings, file, arch));
  CLI_ASSIGN(Runs runs, choose_runs(settings, file, std::move(chosen)));
  auto& [emulator, engine, requests] = runs;
  if (!engine.device()) {
    settings.console.note("{}: {}; its presets are built only", arch, engine.device().error().line());
    return Emulated{};
  }
  Emulated result;
  Progress progress(settings.console, requests.size());
  for (const Request& request : requests) {
    result.object.push_back(run_one(engine, file, request));
    progress.step(arch + ", emulated");
    const Json& row = result.object.back();
    const std::string fault = row["fault"];
    if (fault.empty()) continue;
    ++result.faults;
    settings.console.report("{:<8} emulated: failed {} {} {}\n", arch, row.value("dims", ""), row.value("types", ""),
                            row.value("config", ""));
    std::fflush(stdout);
    fmt::print(stderr, "{}\n  again with {}\n", fault, command_of(file, emulator, request));
  }
  settings.console.report("{:<8} emulated: {} of {} runs are right, of {} problems on {} processors{}\n", arch,
                          requests.size() - result.faults, requests.size(), distinct_dims(result.object),
                          emulator.processors,
                          file.kernel->files.front().reference ? "" : "; not compared, for there is no reference");
  return result;
}

}  // namespace tma_jit::cli
