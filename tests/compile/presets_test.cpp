// Configurations that the embedded templates, kernels and probes, ship compile
// for the architectures their files name, without a warning of NVRTC or ptxas
// and without a spill. Unless all combinations are taken, these are few of each
// file in which every preset and every architecture occurs, and every pair of a
// parameter's value, a type and an instruction set; in builds with sanitizers,
// the first of some files.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tma_jit/engine.h>

#include "compile/pairwise.h"
#include "support/combinations.h"

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
  options.use_cache = std::getenv("TMA_JIT_CACHE_DIR") != nullptr;  // CTest names a folder of the build, nobody else's
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

// What pairs are made of: each parameter's value, the type choices and the instruction set. `params` are the names of
// all parameters that presets of the file give.
testing::PairwiseRow row_of(const Job& job, const std::set<std::string>& params) {
  testing::PairwiseRow row = {std::string(instruction_set_of(job.arch))};
  for (const std::string& param : params) {
    const auto found = job.request.params.find(param);
    row.push_back(found == job.request.params.end() ? "" : std::to_string(found->second));
  }
  for (const std::string& type : type_names(job.request)) row.push_back(type);
  return row;
}

// Which of a file's jobs to build.
std::vector<Job> chosen(std::vector<Job> jobs) {
  if (testing::combinations() == testing::Combinations::all || jobs.empty()) return jobs;
  if (testing::combinations() == testing::Combinations::few) return {jobs.front()};
  std::set<std::string> params;
  for (const Job& job : jobs) {
    for (const auto& [param, value] : job.request.params) params.insert(param);
  }
  std::vector<testing::PairwiseRow> rows;
  for (const Job& job : jobs) rows.push_back(row_of(job, params));
  std::set<std::string> presets, archs;
  const auto is_new = [&](const Job& job) {
    const bool new_preset = presets.insert(fmt::format("{}", job.request.params)).second;
    return archs.insert(job.arch).second || new_preset;
  };
  std::vector<Job> few;
  for (const std::size_t i : testing::pairwise_cover(rows)) {
    is_new(jobs[i]);
    few.push_back(jobs[i]);
  }
  for (const Job& job : jobs) {
    if (is_new(job)) few.push_back(job);
  }
  return few;
}

// Every preset of one file with every choice of its types, for one
// architecture.
std::vector<Job> jobs_of(Engine& engine, const KernelInfo& info, const std::string& arch) {
  const auto requests = engine.presets(info.kernel);
  REQUIRE_MESSAGE(requests, (requests ? "" : requests.error().text()));
  std::vector<Job> jobs;
  for (const Request& request : *requests) {
    if (request.file == stem_of(info)) jobs.push_back({&engine, request, arch});
  }
  return jobs;
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
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  threads.clear();
  return faults;
}

}  // namespace

TEST_CASE("every preset compiles for every architecture, without warnings or spills") {
  std::map<std::string, Engine> engines;
  std::vector<Job> jobs;
  for (const auto& info : testing::sampled(Engine().kernels())) {
    REQUIRE_MESSAGE(info, (info ? "" : info.error().text()));
    std::vector<Job> of_file;
    for (const std::string& arch : info->archs) {
      Engine& engine = engines.try_emplace(arch, engine_for(arch)).first->second;
      for (Job& job : jobs_of(engine, *info, arch)) of_file.push_back(std::move(job));
    }
    CHECK(!of_file.empty());
    if (info->reference && !of_file.empty()) {
      jobs.push_back(of_file.front());
      jobs.back().request.reference = true;
    }
    for (Job& job : chosen(std::move(of_file))) jobs.push_back(std::move(job));
  }
  CHECK(jobs.size() > 10);
  for (const auto& [job, fault] : faults_of(jobs)) FAIL_CHECK(job << "\n" << fault);
  MESSAGE(jobs.size() << " configurations");
}

}  // namespace tma_jit
