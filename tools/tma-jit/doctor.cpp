// tma-jit doctor: reports what it found on this machine; if there is a device, tests the whole chain with real launches
// and every feature of the device with its probe, and compares the kernels with and without TMA.
#include <algorithm>
#include <array>
#include <memory>

#include <tma_jit/json.h>
#include <tma_jit/remote.h>

#include "advice.h"
#include "describe.h"
#include "device_features.h"
#include "text.h"
#include "tma_comparison.h"
#include "trial.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

constexpr std::array<const char*, 3> kProved = {"copy", "map", "gemm"};

// Returns the text of an error in a row: its further lines, and the advice below them.
std::string fault_text(const Error& error, const std::string& advice) {
  return std::string(trimmed(indented(error.text() + "\ndo: " + advice, 12)));
}

void examine_driver(const Console& console, const Environment& found, Json& part) {
  if (!found.driver_version) {
    const std::string advice = advice_for_driver(found.driver_version.error());
    part["advice"] = advice;
    return console.report("driver      none: {}\n", fault_text(found.driver_version.error(), advice));
  }
  const int version = *found.driver_version;
  console.report("driver      supports CUDA {}.{}\n", version / 1000, version % 1000 / 10);
}

void examine_device(const Console& console, const Environment& found, Json& part) {
  if (!found.device) {
    const std::string advice = advice_for_device(found.device.error());
    part["advice"] = advice;
    return console.report("device      none{}\n",
                          found.driver_version ? ": " + fault_text(found.device.error(), advice) : "");
  }
  const DeviceInfo& d = *found.device;
  console.report("device      {} ({}): {} SMs, {} of memory at {:.0f} GB/s, {} of L2\n", d.name, d.arch, d.sm_count,
                 readable_bytes(static_cast<std::uint64_t>(d.memory_bytes)), d.memory_gb_per_s,
                 readable_bytes(static_cast<std::uint64_t>(d.l2_bytes)));
  console.report("            TMA {}, multicast {}, clusters of up to {}, {} of shared memory a block\n",
                 d.compute_capability >= 90 ? "yes" : "no", d.multicast ? "yes" : "no", d.cluster_max,
                 readable_bytes(static_cast<std::uint64_t>(d.smem_per_block)));
}

void examine_compiler(const Console& console, const Environment& found, Json& part) {
  if (!found.compiler) {
    const std::string advice = advice_for_compiler();
    part["advice"] = advice;
    return console.report("NVRTC       none: {}\n", fault_text(found.compiler.error(), advice));
  }
  const Environment::Compiler& c = *found.compiler;
  console.report("NVRTC       {} at {}, run in {}\n            identity {}\n            compiles for {}\n", c.version,
                 c.path, c.place, c.identity, fmt::join(c.archs, " "));
  for (const std::string& missing : c.missing_features) console.report("            without {}\n", missing);
}

void examine_cache(const Console& console, const Environment& found, Json& part) {
  if (found.cache_writable) return console.report("cache       {}, writable\n", found.cache_dir.string());
  const std::string advice =
      "name a folder that this user can write with --cache-dir or TMA_JIT_CACHE_DIR; without "
      "one every process compiles anew";
  part["advice"] = advice;
  console.report("cache       {}, not writable: {}\n", found.cache_dir.string(),
                 fault_text(found.cache_writable.error(), advice));
}

// Returns whether the server passed, or none is named.
bool examine_remote(const Console& console, const Settings& settings, const Environment& found, Json& part) {
  if (found.remote.empty() || settings.no_cache) return true;
  const auto proof = remote_prove(remote_options(settings));
  if (!proof) {
    const std::string advice = "check its URL and credentials; kernels are compiled or taken from the folder meanwhile";
    part["remote_error"] = to_json(proof.error());
    part["remote_advice"] = advice;
    console.report("remote      failed: {}\n", fault_text(proof.error(), advice));
    return false;
  }
  part["proof"] = {{"remote", proof->remote}, {"written", proof->written}, {"health_ms", proof->health_ms},
                   {"put_ms", proof->put_ms}, {"get_ms", proof->get_ms},   {"exists_ms", proof->exists_ms}};
  console.report("remote      {}: answers in {:.1f} ms{}\n", proof->remote, proof->health_ms,
                 proof->written ? fmt::format("; put {:.1f} ms, get {:.1f} ms, exists {:.1f} ms, all proved",
                                              proof->put_ms, proof->get_ms, proof->exists_ms)
                                : std::string("; only read"));
  return true;
}

Json examine_kernels(const Console& console, Engine& engine) {
  std::vector<std::string> names;
  std::size_t files = 0;
  for (const Result<KernelInfo>& info : engine.kernels()) {
    if (!info || info->probe) continue;
    ++files;
    if (std::find(names.begin(), names.end(), info->kernel) == names.end()) names.push_back(info->kernel);
  }
  std::sort(names.begin(), names.end());
  console.report("kernels     {} in {} files\n", fmt::join(names, " "), files);
  return names;
}

// Returns a problem that exercises every path of the kernel: ragged and large; a small one for the emulator.
Outcome<Request> proof_request(Engine& engine, const std::string& name, bool emulated) {
  Request request;
  request.kernel = name;
  CLI_ASSIGN(request, engine.example(request, {.extents = Extents::ragged, .least = emulated ? 1 : 512}));
  return request;
}

Outcome<bool> launch_proof(const Console& console, Engine& engine, const Request& request) {
  CLI_ASSIGN(Trial trial, prepare_trial(engine, request, {}));
  CLI_CHECK(run_trial(engine, trial));
  CLI_ASSIGN(const TrialCheck check, check_trial(engine, trial));
  console.report("{:<11} launched: {}, {} with the float64 reference\n", request.kernel, dim_words(trial.launch.plan()),
                 check.passed() ? "agrees" : "DISAGREES");
  if (check.passed()) return true;
  console.report("{}            do: {}\n", describe(check),
                 advice_for_wrong_result(fmt::format("{} {}", request.kernel, dim_words(trial.launch.plan()))));
  return false;
}

Outcome<bool> build_proof(const Console& console, Engine& engine, const Request& request) {
  CLI_ASSIGN(const Plan plan, engine.plan(request));
  CLI_ASSIGN(const Artifact cubin, engine.build(plan));
  console.report(
      "{:<11} built for {}: {}, not launched\n", request.kernel, plan.arch,
      cubin.compiled ? fmt::format("compiled in {:.0f} ms", cubin.compile_ms) : std::string("from the cache"));
  return true;
}

// What doctor has found, and an engine for the tests.
struct Examination {
  const Settings& settings;
  const Environment& found;
  Engine& engine;
  bool launch;
  bool every_feature;
  Json object;
};

bool prove_kernel(Examination& exam, const std::string& name) {
  const Console& console = exam.settings.console;
  auto request = proof_request(exam.engine, name, is_emulated(exam.settings));
  const Outcome<bool> proof = !request      ? Outcome<bool>(tl::make_unexpected(std::move(request).error()))
                              : exam.launch ? launch_proof(console, exam.engine, *request)
                                            : build_proof(console, exam.engine, *request);
  Json object = {{"kernel", name}, {"launched", exam.launch && proof.has_value()}, {"passed", proof.value_or(false)}};
  if (!proof) {
    const std::string advice = advice_for_kernel(proof.error().error, exam.found);
    console.report("{:<11} failed: {}\n", name, fault_text(proof.error().error, advice));
    object["error"] = to_json(proof.error().error);
    object["advice"] = advice;
  }
  exam.object["proofs"].push_back(std::move(object));
  return proof.value_or(false);
}

bool prove_features(Examination& exam) {
  const Console& console = exam.settings.console;
  std::vector<Feature> features = features_of(exam.engine);
  if (exam.launch && !exam.every_feature) leave_one_of_each_file(exam.engine, features);
  if (exam.launch) prove(exam.engine, exam.found, features, !is_emulated(exam.settings));
  const auto count = [&](Feature::Status status) {
    return std::count_if(features.begin(), features.end(), [&](const Feature& f) { return f.status == status; });
  };
  const auto left = count(Feature::Status::left);
  console.report(
      "features    {} passed, {} failed, {} absent, {} not run{}\n{}", count(Feature::Status::passed),
      count(Feature::Status::failed), count(Feature::Status::absent), count(Feature::Status::not_run),
      left > 0 ? fmt::format("; of each probe one runs on the emulator: --every-feature runs the {} left", left) : "",
      exam.launch ? describe(features) : "");
  exam.object["features"] = to_json(features);
  return !exam.launch || (count(Feature::Status::failed) == 0 && count(Feature::Status::not_run) == 0);
}

void compare(Examination& exam) {
  exam.object["comparison"] = Json::array();
  if (!exam.launch || is_emulated(exam.settings)) return;
  const std::vector<ComparedProblem> compared = compare_tma(exam.settings);
  exam.settings.console.report("share of the device's peak, L2 written over before each launch\n{}",
                               describe(compared));
  exam.object["comparison"] = to_json(compared);
}

// Returns an engine for the tests. Without a device they end with the cubin, for a device that is known by name.
Outcome<Engine> proving_engine(const Settings& settings, bool launch) {
  Settings chosen = settings;
  if (!launch && chosen.device.empty() && chosen.arch.empty()) chosen.device = "h100";
  return make_engine(chosen);
}

// Returns whether the missing device is a fault. A machine without a driver may serve only to build kernels; one whose
// driver shows no device is faulty.
bool is_missed(const Environment& found, bool named, bool required) {
  if (named) return required;
  if (found.driver_version) return !found.device;
  return required || found.driver_version.error().reason != ErrorReason::library_missing;
}

struct DoctorWords {
  bool need_device = false;
  bool every_feature = false;
};

Outcome<int> doctor(Settings settings, const DoctorWords& words) {
  const Console& console = settings.console;
  settings.disable_tma = false;  // doctor tests both ways
  CLI_ASSIGN(Engine engine, make_engine(settings));
  const Environment found = engine.environment();
  if (found.tma_disabled)
    console.note("TMA_JIT_DISABLE_TMA turns TMA off: other commands obey it, doctor compares both ways");
  const bool named = !settings.device.empty() && !integer_in(settings.device) && !is_emulated(settings);
  const bool launch = found.driver_version.has_value() && found.device.has_value() && !named;
  CLI_ASSIGN(Engine prover, proving_engine(settings, launch));
  const bool every_feature = words.every_feature || !is_emulated(settings);
  Examination exam{settings, found, prover, launch, every_feature, parse_json(json_of(found))};
  examine_driver(console, found, exam.object["driver"]);
  examine_device(console, found, exam.object["device"]);
  examine_compiler(console, found, exam.object["nvrtc"]);
  examine_cache(console, found, exam.object["cache"]);
  const bool remote = examine_remote(console, settings, found, exam.object["cache"]);
  exam.object["kernels"] = examine_kernels(console, prover);
  bool passed = !is_missed(found, named, words.need_device) && remote;
  exam.object["proofs"] = Json::array();
  for (const char* name : kProved) passed = prove_kernel(exam, name) && passed;
  passed = prove_features(exam) && passed;
  compare(exam);
  if (launch && is_emulated(settings))
    console.report("emulated: nothing was timed, for the emulator's times say nothing of a device's\n");
  if (!launch) console.report("nothing was launched: {}\n", named ? "the device is only a name" : "there is no device");
  console.report("{}\n", passed ? "all is well" : "something is wrong");
  exam.object["launched"] = launch;
  exam.object["passed"] = passed;
  console.object(exam.object);
  return passed ? kDone : kFailed;
}

}  // namespace

void add_doctor(Verb command, Settings& settings) {
  Verb verb = command.add_verb("doctor", "what this machine offers, and every feature of its device proved");
  add_settings(verb, settings);
  auto words = std::make_shared<DoctorWords>();
  verb.flag("--need-device", words->need_device, "no device is a failure, even where there is no driver");
  verb.flag("--every-feature", words->every_feature, "run every feature on the emulator too, not one of each probe");
  verb.runs([&settings, words] { return doctor(settings, *words); });
}

}  // namespace tma_jit::cli
