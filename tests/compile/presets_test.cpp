// Every configuration the embedded templates, kernels and probes, ship compiles for every architecture its file names,
// without a warning of NVRTC or ptxas and without a spill. By default each preset is built with its file's default
// types, and each choice of types with one preset, for the file's first architecture; TMA_JIT_TEST_ALL=1 builds every
// combination.
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tma_jit/engine.h>

namespace tma_jit {
namespace {

struct Job {
  Engine* engine;
  Request request;
  std::string arch;
};

std::string name_of(const Job& job) {
  std::vector<std::string> words = {job.request.kernel, job.request.file, job.arch};
  for (const auto& [type, choice] : job.request.types) words.push_back(fmt::format("{} = {}", type, name_of(choice)));
  for (const auto& [param, value] : job.request.params) words.push_back(fmt::format("{} = {}", param, value));
  if (job.request.reference) words.emplace_back("reference");
  return fmt::format("{}", fmt::join(words, ", "));
}

Engine engine_for(const std::string& arch) {
  Options options;
  options.device = "h100";
  for (const std::string& device : known_devices()) {
    if (device_named(device)->arch == arch) options.device = device;
  }
  options.arch = arch;
  options.use_cache = false;
  return Engine(options);
}

std::string stem_of(const KernelInfo& info) {
  return std::filesystem::path(info.file).stem().string();
}

bool build_everything() {
  const char* all = std::getenv("TMA_JIT_TEST_ALL");
  return all != nullptr && *all == '1';
}

// The jobs of one file for one architecture.
std::vector<Job> jobs_of(Engine& engine, const KernelInfo& info, const std::string& arch) {
  const auto requests = engine.presets(info.kernel);
  REQUIRE_MESSAGE(requests, (requests ? "" : requests.error().text()));
  std::vector<Job> jobs;
  std::optional<Request> first;
  for (const Request& request : *requests) {
    if (request.file != stem_of(info)) continue;
    if (!first) first = request;
    const bool wanted =
        request.types == first->types || (request.params == first->params && arch == info.archs.front());
    if (wanted || build_everything()) jobs.push_back({&engine, request, arch});
  }
  if (first && info.has_reference && arch == info.archs.front()) {
    first->reference = true;
    jobs.push_back({&engine, *first, arch});
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
  std::thread beside(work);
  work();
  beside.join();
  return faults;
}

}  // namespace

TEST_CASE("every preset compiles for every architecture, without warnings or spills") {
  std::map<std::string, Engine> engines;
  std::vector<Job> jobs;
  for (const auto& info : Engine().kernels()) {
    REQUIRE_MESSAGE(info, (info ? "" : info.error().text()));
    for (const std::string& arch : info->archs) {
      Engine& engine = engines.try_emplace(arch, engine_for(arch)).first->second;
      for (Job& job : jobs_of(engine, *info, arch)) jobs.push_back(std::move(job));
    }
  }
  CHECK(jobs.size() > 10);
  for (const auto& [job, fault] : faults_of(jobs)) FAIL_CHECK(job << "\n" << fault);
  MESSAGE(jobs.size() << " configurations");
}

}  // namespace tma_jit
