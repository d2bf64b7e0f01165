// Configurations of the embedded templates, kernels and probes, compile for the architectures that their files name,
// without a warning of NVRTC or ptxas and without a spill. Unless all combinations are taken, these are few of each
// file in which every type, every architecture and every value of a parameter occurs, and every pair of types by their
// widths, of a value and architectures with or without TMA, of a value and the size of elements, and of a float of 8
// bits and an instruction set; in builds with sanitizers, the first of some files. TMA_JIT_SHARD=I/N selects each N-th
// kernel, from the I-th on.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tma_jit/engine.h>

#include "compile/cover.h"
#include "support/combinations.h"
#include "support/shard.h"
#include "support/shared_cache.h"

namespace tma_jit {
namespace {

struct Job {
  Engine* engine;
  Request request;
  std::string arch;
};

std::vector<std::string> type_names(const Request& request) {
  std::vector<std::string> names;
  for (const auto& [type, choice] : request.types) names.push_back(fmt::format("{} = {}", type, name_of(choice)));
  return names;
}

std::string name_of(const Job& job) {
  std::vector<std::string> words = {job.request.kernel, job.request.file, job.arch};
  for (const std::string& name : type_names(job.request)) words.push_back(name);
  for (const auto& [param, value] : job.request.params) words.push_back(fmt::format("{} = {}", param, value));
  if (job.request.reference) words.emplace_back("reference");
  return fmt::format("{}", fmt::join(words, ", "));
}

Engine engine_for(const std::string& arch) {
  Options options;
  options.device = Device::known("h100");
  for (const std::string& device : known_devices()) {
    if (device_named(device)->arch == arch) options.device = Device::known(device);
  }
  options.arch = arch;
  options.use_cache = testing::has_shared_cache();
  return Engine(options);
}

std::string stem_of(const KernelInfo& info) {
  return std::filesystem::path(info.file).stem().string();
}

// Architectures with equal instructions, as far as templates use them.
std::string_view instruction_set_of(std::string_view arch) {
  if (arch == "sm_86") return "sm_80";
  if (arch == "sm_103a") return "sm_100a";
  return arch == "sm_121a" ? "sm_120a" : arch;
}

// Whether an architecture has TMA.
std::string_view era_of(std::string_view arch) {
  const bool old = arch == "sm_80" || arch == "sm_86" || arch == "sm_89";
  return old ? "architectures without TMA" : "architectures with TMA";
}

// A type by what differs between its code and that of others: of integers the width, as their instructions are the same
// except for comparisons, and of the two floats of 16 bits, and of 8 bits, a conversion's instruction.
std::string width_of(std::string type) {
  if (type.ends_with("bf16")) return type.substr(0, type.size() - 4) + "f16";
  if (type.ends_with("e5m2")) return type.substr(0, type.size() - 4) + "e4m3";
  const std::size_t value = type.rfind(' ') + 1;
  if (type[value] == 'u') type[value] = 's';
  return type;
}

// What must occur in some job of a file if it occurs in this one. `params` are the names of all parameters that presets
// of the file give. Only floats of 8 bits have instructions on some architectures that others lack.
testing::Features features_of(const Job& job, const std::set<std::string>& params) {
  testing::Features features = type_names(job.request);
  features.push_back(job.arch);
  const auto& types_of_job = job.request.types;
  const std::size_t size = types_of_job.contains("T") ? size_of(types_of_job.at("T")) : 0;
  for (const std::string& param : params) {
    const auto found = job.request.params.find(param);
    const std::string value = found == job.request.params.end() ? param : fmt::format("{} = {}", param, found->second);
    features.push_back(fmt::format("{} on {}", value, era_of(job.arch)));
    features.push_back(fmt::format("{} with elements of {} bytes", value, size));
  }
  std::vector<std::string> types = type_names(job.request);
  std::ranges::transform(types, types.begin(), width_of);
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].ends_with("e4m3")) features.push_back(fmt::format("{} on {}", types[i], instruction_set_of(job.arch)));
    for (std::size_t j = 0; j < i; ++j) features.push_back(fmt::format("{} with {}", types[i], types[j]));
  }
  return features;
}

// Which of a file's jobs to build.
std::vector<Job> chosen(std::vector<Job> jobs) {
  if (testing::combinations() == testing::Combinations::all || jobs.empty()) return jobs;
  if (testing::combinations() == testing::Combinations::few) return {jobs.front()};
  std::set<std::string> params;
  for (const Job& job : jobs) {
    for (const auto& [param, value] : job.request.params) params.insert(param);
  }
  std::vector<testing::Features> rows;
  rows.reserve(jobs.size());
  for (const Job& job : jobs) rows.push_back(features_of(job, params));
  std::vector<Job> few;
  for (const std::size_t i : testing::cover(rows)) few.push_back(jobs[i]);
  return few;
}

// The problem of a preset with heads of as many elements as there is a plan for, as they are planned: presets may leave
// open how many there are, which decides how many registers a kernel needs.
std::vector<Request> with_heads(Engine& engine, const Request& preset) {
  std::vector<Request> requests;
  for (const std::int64_t elements : {64, 128, 256}) {
    Request request = preset;
    request.params = {{"HD", elements}};
    if (engine.plan(request)) requests.push_back(std::move(request));
  }
  return requests;
}

// Presets of kernels for architectures, each found once: a kernel may have several files.
class Presets {
 public:
  // Every preset of one file with every choice of its types, for one architecture, and what its problem is with heads
  // of other elements where the file has heads.
  std::vector<Job> of(const KernelInfo& info, const std::string& arch) {
    Engine& engine = engines_.try_emplace(arch, engine_for(arch)).first->second;
    const bool has_heads = std::ranges::any_of(info.params, [](const auto& param) { return param.name == "HD"; });
    std::set<std::vector<std::string>> types;
    std::vector<Job> jobs, of_heads;
    for (const Request& preset : of_kernel(engine, info.kernel, arch)) {
      if (preset.file != stem_of(info)) continue;
      jobs.push_back({&engine, preset, arch});
      if (!has_heads || !types.insert(type_names(preset)).second) continue;
      for (const Request& request : with_heads(engine, preset)) of_heads.push_back({&engine, request, arch});
    }
    std::ranges::move(of_heads, std::back_inserter(jobs));
    return jobs;
  }

 private:
  const std::vector<Request>& of_kernel(Engine& engine, const std::string& kernel, const std::string& arch) {
    const auto [found, is_new] = known_.try_emplace({kernel, arch});
    if (!is_new) return found->second;
    auto requests = engine.presets(kernel);
    REQUIRE_MESSAGE(requests, (requests ? "" : requests.error().text()));
    return found->second = std::move(*requests);
  }

  std::map<std::string, Engine> engines_;
  std::map<std::pair<std::string, std::string>, std::vector<Request>> known_;
};

// The files of the kernels of this run's shard.
std::vector<KernelInfo> files_of_this_run() {
  const testing::Shard shard = testing::shard_of_this_run();
  std::map<std::string, std::size_t> numbers;  // of kernels
  std::vector<KernelInfo> files;
  for (const auto& info : testing::sampled(Engine().kernels())) {
    REQUIRE_MESSAGE(info, (info ? "" : info.error().text()));
    if (shard.has(numbers.try_emplace(info->kernel, numbers.size()).first->second)) files.push_back(*info);
  }
  return files;
}

// "" when the job is as it should be.
std::string fault_of(const Job& job) {
  const auto plan = job.engine->plan(job.request);
  if (!plan) return plan.error().text();
  const auto cubin = job.engine->build(*plan);
  if (!cubin) return cubin.error().text();
  const Resources& resources = cubin->resources;
  std::string fault = fmt::format("{}", fmt::join(resources.warnings, "\n"));
  if (resources.spill_store_bytes + resources.spill_load_bytes > 0) {
    fault += fmt::format("\nspills {} bytes with {} registers", resources.spill_store_bytes, resources.registers);
  }
  return fault;
}

std::map<std::string, std::string> faults_of(const std::vector<Job>& jobs) {
  std::map<std::string, std::string> faults;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      const std::string fault = fault_of(jobs[i]);
      const std::lock_guard lock(mutex);
      if (!fault.empty()) faults[name_of(jobs[i])] = fault;
    }
  };
  std::vector<std::jthread> threads;
  const unsigned all = std::max(1U, std::thread::hardware_concurrency() / testing::shard_of_this_run().count);
  for (unsigned i = 0; i < all; ++i) threads.emplace_back(work);
  threads.clear();
  return faults;
}

}  // namespace

TEST_CASE("every preset compiles for every architecture, without warnings or spills") {
  Presets presets;
  std::vector<Job> jobs;
  for (const KernelInfo& info : files_of_this_run()) {
    std::vector<Job> of_file;
    for (const std::string& arch : info.archs) {
      std::ranges::move(presets.of(info, arch), std::back_inserter(of_file));
      if (testing::combinations() == testing::Combinations::few) break;  // takes the first only
    }
    CHECK(!of_file.empty());
    if (info.reference && !of_file.empty()) {
      jobs.push_back(of_file.front());
      jobs.back().request.reference = true;
    }
    std::ranges::move(chosen(std::move(of_file)), std::back_inserter(jobs));
  }
  CHECK(jobs.size() > 10);
  for (const auto& [job, fault] : faults_of(jobs)) FAIL_CHECK(job << "\n" << fault);
  MESSAGE(jobs.size() << " configurations");
}

}  // namespace tma_jit
