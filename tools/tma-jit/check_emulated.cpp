#include "check_emulated.h"

#include <algorithm>

#include "describe.h"
#include "small_dims.h"
#include "text.h"
#include "trial.h"

namespace tma_jit::cli {
namespace {

// The settings of a device that is the emulator, ":policy=lazy" of "emulator:sm_90a:policy=lazy"; the target is `arch`.
Outcome<Engine> emulated_engine(const Settings& settings, const CheckedFile& file, const std::string& arch) {
  Settings one = settings;
  const std::size_t equals = is_emulated(settings) ? settings.device.find('=') : std::string::npos;
  one.device = "emulator:" + arch;
  if (equals != std::string::npos) one.device += settings.device.substr(settings.device.rfind(':', equals));
  one.arch = arch;
  CLI_ASSIGN(Engine engine, make_engine(one));
  CLI_CHECK(engine.add_template_file(file.path));
  return engine;
}

// "" where it is right.
Outcome<std::string> emulate(Engine& engine, const CheckedFile& file, const Request& request) {
  CLI_ASSIGN(Trial trial, prepare_trial(engine, request, {}));
  CLI_CHECK(run_trial(engine, trial));
  if (!file.kernel->files.front().has_reference) return std::string();
  CLI_ASSIGN(const TrialCheck check, check_trial(engine, trial));
  return check.passed() ? std::string() : describe(check);
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

}  // namespace

Outcome<std::vector<Request>> presets_of(Engine& engine, const CheckedFile& file,
                                         const std::map<std::string, std::int64_t>& dims) {
  CLI_ASSIGN(std::vector<Request> requests, engine.presets(file.kernel->name, dims));
  const std::string stem = stem_of(file.path);
  std::erase_if(requests, [&](const Request& request) { return !request.file.empty() && request.file != stem; });
  for (Request& request : requests) {
    request.file = stem;
    for (const auto& [name, text] : file.hooks) request.hooks[name] = text;
  }
  return requests;
}

Outcome<Emulated> check_emulated(const Settings& settings, const CheckedFile& file, const std::string& arch) {
  CLI_ASSIGN(Engine engine, emulated_engine(settings, file, arch));
  if (!engine.device()) {
    settings.console.note("{}: {}; its presets are built only", arch, engine.device().error().message);
    return Emulated{};
  }
  CLI_ASSIGN(const std::vector<Request> requests,
             presets_of(engine, file, small_dims(file.kernel->files.front(), file.dims)));
  Emulated result;
  for (const Request& request : requests) {
    result.object.push_back(run_one(engine, file, request));
    const Json& row = result.object.back();
    const std::string fault = row["fault"];
    if (fault.empty()) continue;
    ++result.faults;
    settings.console.report("{:<8} emulated: failed {} {} {}\n", arch, row.value("dims", ""), row.value("types", ""),
                            row.value("config", ""));
    std::fflush(stdout);
    fmt::print(stderr, "{}\n", fault);
  }
  settings.console.report("{:<8} emulated: {} of {} presets agree, {}\n", arch, requests.size() - result.faults,
                          requests.size(), result.object.empty() ? "" : result.object[0].value("dims", ""));
  return result;
}

}  // namespace tma_jit::cli
