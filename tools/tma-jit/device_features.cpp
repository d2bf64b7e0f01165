#include "device_features.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "advice.h"
#include "bound.h"
#include "text.h"
#include "together.h"

namespace tma_jit::cli {
namespace {

// The share of a peak is meaningful only if the device needs at least this long for the work.
constexpr double kLeastWork = 5;  // microseconds

const char* name_of(Feature::Status status) {
  switch (status) {
    case Feature::Status::passed: return "passed";
    case Feature::Status::failed: return "failed";
    case Feature::Status::absent: return "absent";
    case Feature::Status::left: return "left";
    default: return "not run";
  }
}

Feature feature_of(const KernelInfo& probe, const KernelInfo::Preset* preset) {
  Feature feature;
  feature.name = preset != nullptr && !preset->doc.empty() ? preset->doc : probe.kernel + ": " + probe.doc;
  feature.kernel = probe.kernel;
  feature.file = stem_of(probe.file);
  feature.archs = probe.archs;
  for (const KernelInfo::Param& param : probe.params) feature.params[param.name] = param.default_value;
  if (preset != nullptr) {
    feature.preset = preset->declaration;
    for (const auto& [name, value] : preset->settings) feature.params[name] = value;
  }
  return feature;
}

// The requests of each kernel's presets, for which the engine is asked once.
using PresetRequests = std::map<std::string, Result<std::vector<Request>>>;

const Result<std::vector<Request>>& requests_of(Engine& engine, PresetRequests& known, const std::string& kernel) {
  const auto found = known.find(kernel);
  return found != known.end() ? found->second : known.emplace(kernel, engine.presets(kernel)).first->second;
}

// Finds among a kernel's requests that of the feature's preset, which has suitable types and dims. There is none if the
// preset's condition excludes the device.
void find_request(const Result<std::vector<Request>>& requests, Feature& feature) {
  if (!requests) {
    if (requests.error().code == ErrorCode::unsupported) return;
    feature.status = Feature::Status::failed;
    feature.error = requests.error();
    return;
  }
  const auto of_file = [&](const Request& request) { return request.file == feature.file; };
  const auto same = std::ranges::find_if(
      *requests, [&](const Request& request) { return of_file(request) && request.params == feature.params; });
  if (same != requests->end()) {
    feature.request = *same;
    feature.status = Feature::Status::not_run;
  } else if (std::ranges::any_of(*requests, of_file)) {
    feature.error = Error{ErrorCode::unsupported, "not for this device: preset " + feature.preset, {}};
  }
}

std::string run_words(const Feature& feature) {
  std::string words = fmt::format("{} --template-file {}", feature.kernel, feature.file);
  for (const auto& [name, value] : feature.params) words += fmt::format(" {}={}", name, value);
  return words;
}

// Builds all features in advance, several at a time; failures are reported when the feature runs.
void build_all(Engine& engine, const std::vector<Feature>& features) {
  std::vector<Request> requests;
  for (const Feature& feature : features) {
    if (feature.status != Feature::Status::not_run) continue;
    for (const bool reference : {false, true}) {
      requests.push_back(*feature.request);
      requests.back().reference = reference;
    }
  }
  std::atomic<std::size_t> next = 0;
  const auto build = [&] {
    for (std::size_t i = next++; i < requests.size(); i = next++) {
      const auto plan = engine.plan(requests[i]);
      if (plan) (void)engine.build(*plan);
    }
  };
  run_together(std::clamp(std::thread::hardware_concurrency(), 1U, 8U) - 1, build);
}

// Returns whether the error means that the device lacks something: no types make the configuration valid, and a rule
// says why.
bool is_lack(const Error& error) {
  return error.code == ErrorCode::no_config || error.code == ErrorCode::unsupported;
}

Outcome<void> run(Engine& engine, Feature& feature, bool timed) {
  const auto plan = engine.plan(*feature.request);
  if (!plan && is_lack(plan.error())) {
    feature.status = Feature::Status::absent;
    feature.error = plan.error();
    return {};
  }
  CLI_ASSIGN(Trial trial, prepare_trial(engine, *feature.request, {}));
  CLI_CHECK(run_trial(engine, trial));
  CLI_ASSIGN(const TrialCheck check, check_trial(engine, trial));
  feature.status = check.passed() ? Feature::Status::passed : Feature::Status::failed;
  if (!check.passed()) feature.fault = cli::describe(check);
  if (!timed) return {};
  CLI_ASSIGN(const Measurement time, measure(engine, trial.launch, {.warmups = 1, .repeats = 5, .host_launches = 0}));
  CLI_ASSIGN(const DeviceInfo device, engine.device());
  const Bound bound = bound_of(trial, device);
  feature.time_us = time.median_us;
  if (bound.floor_us < kLeastWork) return {};
  feature.share = bound.share(time.median_us);
  feature.peak = peak_of(bound);
  return {};
}

double work_of(const Plan& plan) {
  return plan.work.bytes + plan.work.flops;
}

// Returns false if nothing more can run in this process.
bool prove(Engine& engine, const Environment& found, Feature& feature, bool timed) {
  const Outcome<void> ran = run(engine, feature, timed);
  if (!ran) {
    feature.status = Feature::Status::failed;
    feature.error = ran.error().error;
    feature.advice = advice_for_kernel(*feature.error, found);
    return synchronize(engine).has_value();
  }
  if (feature.status == Feature::Status::failed) feature.advice = advice_for_wrong_result(run_words(feature));
  return true;
}

std::string row(const Feature& feature, std::size_t width) {
  std::string text = fmt::format("  {:<{}}  {:<7}", feature.name, width, name_of(feature.status));
  if (feature.time_us > 0) text += fmt::format("  {:9.2f} us", feature.time_us);
  if (feature.share > 0) text += fmt::format("  {:5.1f}% of {}", 100 * feature.share, feature.peak);
  if (feature.status == Feature::Status::absent) {
    text += feature.error ? "  " + feature.error->message : fmt::format("  only on {}", fmt::join(feature.archs, " "));
  }
  return text + "\n";
}

std::string explanation(const Feature& feature) {
  std::string text;
  if (feature.error) text += feature.error->text() + "\n";
  text += feature.fault;
  if (!feature.advice.empty()) text += fmt::format("do: {}\n", feature.advice);
  return indented(text, 6);
}

}  // namespace

std::vector<Feature> features_of(Engine& engine) {
  std::vector<Feature> features;
  for (const Result<KernelInfo>& info : engine.kernels()) {
    if (!info || !info->probe) continue;
    for (const KernelInfo::Preset& preset : info->presets) features.push_back(feature_of(*info, &preset));
    if (info->presets.empty()) features.push_back(feature_of(*info, nullptr));
  }
  std::set<std::string> had;
  PresetRequests known;
  for (Feature& feature : features) {
    find_request(requests_of(engine, known, feature.kernel), feature);
    if (feature.request) had.insert(feature.name);
  }
  // If another file shows the same feature on this device, the file that does not serve the device is not reported.
  std::erase_if(features, [&](const Feature& feature) { return !feature.request && had.contains(feature.name); });
  return features;
}

void leave_one_of_each_file(Engine& engine, std::vector<Feature>& features) {
  std::map<std::string, std::pair<double, Feature*>> least;
  for (Feature& feature : features) {
    if (feature.status != Feature::Status::not_run) continue;
    const auto plan = engine.plan(*feature.request);
    if (!plan) continue;
    feature.status = Feature::Status::left;
    const auto [found, is_new] = least.try_emplace(feature.file, work_of(*plan), &feature);
    if (!is_new && work_of(*plan) < found->second.first) found->second = {work_of(*plan), &feature};
  }
  for (const auto& [file, one] : least) one.second->status = Feature::Status::not_run;
}

void prove(Engine& engine, const Environment& found, std::vector<Feature>& features, bool timed) {
  build_all(engine, features);
  bool alive = true;
  for (Feature& feature : features) {
    if (feature.status == Feature::Status::failed) feature.advice = advice_for_kernel(*feature.error, found);
    if (feature.status == Feature::Status::not_run && alive) alive = prove(engine, found, feature, timed);
  }
}

std::string describe(const std::vector<Feature>& features) {
  std::size_t width = 0;
  for (const Feature& feature : features) width = std::max(width, feature.name.size());
  std::string text;
  for (const Feature& feature : features) {
    text += row(feature, width);
    if (feature.status == Feature::Status::failed) text += explanation(feature);
  }
  return text;
}

Json to_json(const std::vector<Feature>& features) {
  Json list = Json::array();
  for (const Feature& feature : features) {
    Json object = {{"name", feature.name},     {"kernel", feature.kernel}, {"file", feature.file},
                   {"config", feature.params}, {"archs", feature.archs},   {"status", name_of(feature.status)}};
    if (feature.time_us > 0) object["median_us"] = feature.time_us;
    if (feature.share > 0) object["share"] = feature.share;
    if (feature.error) object["error"] = to_json(*feature.error);
    if (!feature.fault.empty()) object["fault"] = feature.fault;
    if (!feature.advice.empty()) object["advice"] = feature.advice;
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace tma_jit::cli
