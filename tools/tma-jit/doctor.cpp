// tma-jit doctor: what was found on this machine, and the whole chain proved with real launches where there is a
// device.
#include <algorithm>
#include <array>
#include <memory>

#include "describe.h"
#include "text.h"
#include "trial.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

constexpr std::array<const char*, 3> kProved = {"copy", "map", "gemm"};

// Every fault is printed where its part is reported; with --json it is in the object.
template <class T> Json fault_of(const Result<T>& result) {
  return Json{{"error", to_json(result.error())}};
}

std::string indented(const Error& error) {
  std::string text = error.text();
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, "            ");
  return text;
}

Json examine_driver(const Console& console, const Environment& found) {
  if (!found.driver_version) {
    console.report("driver      none: {}\n", indented(found.driver_version.error()));
    return fault_of(found.driver_version);
  }
  const int version = *found.driver_version;
  console.report("driver      supports CUDA {}.{}\n", version / 1000, version % 1000 / 10);
  return {{"cuda", fmt::format("{}.{}", version / 1000, version % 1000 / 10)}};
}

Json examine_device(const Console& console, const Environment& found) {
  if (!found.device) {
    console.report("device      none{}\n", found.driver_version ? ": " + indented(found.device.error()) : "");
    return fault_of(found.device);
  }
  const DeviceInfo& d = *found.device;
  console.report("device      {} ({}): {} SMs, {} of memory at {:.0f} GB/s, {} of L2\n", d.name, d.arch, d.sm_count,
                 readable_bytes(static_cast<std::uint64_t>(d.memory_bytes)), d.memory_gb_per_s,
                 readable_bytes(static_cast<std::uint64_t>(d.l2_bytes)));
  console.report("            TMA {}, multicast {}, clusters of up to {}, {} of shared memory a block\n",
                 d.compute_capability >= 90 ? "yes" : "no", d.multicast ? "yes" : "no", d.cluster_max,
                 readable_bytes(static_cast<std::uint64_t>(d.smem_per_block)));
  return to_json(d);
}

Json examine_compiler(const Console& console, const Environment& found) {
  if (!found.compiler) {
    console.report("NVRTC       none: {}\n", indented(found.compiler.error()));
    return fault_of(found.compiler);
  }
  const Environment::Compiler& c = *found.compiler;
  console.report("NVRTC       {} at {}\n            identity {}\n            compiles for {}\n", c.version, c.path,
                 c.identity, fmt::join(c.archs, " "));
  for (const std::string& lack : c.lacks) console.report("            lacks {}\n", lack);
  return {{"version", c.version}, {"path", c.path}, {"identity", c.identity}, {"archs", c.archs}, {"lacks", c.lacks}};
}

Json examine_cache(const Console& console, const Environment& found) {
  console.report("cache       {}, {}\n", found.cache_dir.string(),
                 found.cache_writable ? "writable" : "not writable: " + indented(found.cache_writable.error()));
  Json object = {{"dir", found.cache_dir.string()}, {"writable", found.cache_writable.has_value()}};
  if (!found.cache_writable) object["error"] = to_json(found.cache_writable.error());
  return object;
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

// A problem of every kernel that proves something: odd sizes where the kernel takes them.
Outcome<Request> proof_request(Engine& engine, const std::string& name) {
  CLI_ASSIGN(const Kernel kernel, find_kernel(engine, name, name));
  Request request;
  request.kernel = name;
  request.hooks = placeholder_hooks(kernel);
  for (const KernelInfo::Item& dim : kernel.files.front().dims) request.dims[dim.name] = name == "gemm" ? 520 : 1000003;
  return request;
}

Outcome<bool> launch_proof(const Console& console, Engine& engine, const Request& request) {
  CLI_ASSIGN(Trial trial, prepare_trial(engine, request, {}));
  CLI_CHECK(run_trial(engine, trial));
  CLI_ASSIGN(const TrialCheck check, check_trial(engine, trial));
  console.report("{:<11} launched: {}, {} with the float64 reference\n", request.kernel, dim_words(trial.launch.plan()),
                 check.passed() ? "agrees" : "DISAGREES");
  if (!check.passed()) console.report("{}", describe(check));
  return check.passed();
}

Outcome<bool> build_proof(const Console& console, Engine& engine, const Request& request) {
  CLI_ASSIGN(const Plan plan, engine.plan(request));
  CLI_ASSIGN(const Cubin cubin, engine.build(plan));
  console.report(
      "{:<11} built for {}: {}, not launched\n", request.kernel, plan.arch,
      cubin.compiled ? fmt::format("compiled in {:.0f} ms", cubin.compile_ms) : std::string("from the cache"));
  return true;
}

Json prove(const Console& console, Engine& engine, const std::string& name, bool launch) {
  Outcome<bool> proof = true;
  auto request = proof_request(engine, name);
  if (!request) {
    proof = tl::make_unexpected(std::move(request).error());
  } else {
    proof = launch ? launch_proof(console, engine, *request) : build_proof(console, engine, *request);
  }
  Json object = {{"kernel", name}, {"launched", launch && proof.has_value()}, {"passed", proof.value_or(false)}};
  if (!proof) {
    console.report("{:<11} failed: {}\n", name, indented(proof.error().error));
    object["error"] = to_json(proof.error().error);
  }
  return object;
}

// Where there is no device the chain is proved as far as the cubin, for a device that is only known by name.
Outcome<Engine> proving_engine(const Settings& settings, bool launch) {
  Settings chosen = settings;
  if (!launch && chosen.device.empty() && chosen.arch.empty()) chosen.device = "h100";
  return make_engine(chosen);
}

Outcome<int> doctor(const Settings& settings) {
  const Console& console = settings.console;
  CLI_ASSIGN(Engine engine, make_engine(settings));
  const Environment found = engine.environment();
  const bool named = !settings.device.empty() && !integer_in(settings.device);
  const bool launch = found.driver_version.has_value() && found.device.has_value() && !named;
  Json object;
  object["driver"] = examine_driver(console, found);
  object["device"] = examine_device(console, found);
  object["nvrtc"] = examine_compiler(console, found);
  object["cache"] = examine_cache(console, found);
  object["kernels"] = examine_kernels(console, engine);
  CLI_ASSIGN(Engine prover, proving_engine(settings, launch));
  bool passed = true;
  object["proofs"] = Json::array();
  for (const char* name : kProved) {
    object["proofs"].push_back(prove(console, prover, name, launch));
    passed = passed && object["proofs"].back()["passed"].get<bool>();
  }
  if (!launch) console.report("nothing was launched: {}\n", named ? "the device is only a name" : "there is no device");
  console.report("{}\n", passed ? "all is well" : "something is wrong");
  object["launched"] = launch;
  object["passed"] = passed;
  console.object(object);
  return passed ? kDone : kFailed;
}

}  // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
  CLI::App* verb = app.add_subcommand("doctor", "what this machine offers, and the whole chain proved");
  add_settings(*verb, invocation.settings);
  verb->callback([&invocation] { invocation.run = [&invocation] { return doctor(invocation.settings); }; });
}

}  // namespace tma_jit::cli
