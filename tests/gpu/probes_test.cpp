// Every probe that this device has, in every valid configuration and with every choice of its types, against its own
// float64 reference: outputs poisoned first, nothing written beside them. TMA_JIT_TEST_PRESETS=1 takes the presets
// alone.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <tma_jit/tma_jit.h>

#include "gpu/trial_check.h"
#include "plan/planner.h"

namespace tma_jit {
namespace {

using Params = std::map<std::string, std::int64_t>;

std::string said(const Request& request) {
  std::vector<std::string> words = {request.kernel};
  for (const auto& [type, choice] : request.types) words.push_back(fmt::format("{}={}", type, name_of(choice)));
  for (const auto& [param, value] : request.params) words.push_back(fmt::format("{}={}", param, value));
  return fmt::format("{}", fmt::join(words, " "));
}

bool presets_only() {
  const char* only = std::getenv("TMA_JIT_TEST_PRESETS");
  return only != nullptr && *only == '1';
}

// The presets of a probe with every choice of its types, or every valid configuration with each.
std::vector<Request> requests_of(Engine& engine, const std::string& probe) {
  const auto presets = engine.presets(probe);
  REQUIRE_MESSAGE(presets, (presets ? "" : presets.error().text()));
  if (presets_only()) return *presets;
  std::vector<Request> requests;
  std::set<std::map<std::string, DType>> seen;
  for (Request request : *presets) {
    if (!seen.insert(request.types).second) continue;
    request.params.clear();
    const auto found = engine.enumerate(request);
    REQUIRE_MESSAGE(found, (found ? "" : found.error().text()));
    CHECK_MESSAGE(found->valid == static_cast<std::int64_t>(found->valid_configs.size()), "more than one test can run");
    for (const auto& config : found->valid_configs) {
      request.params = Params(config.begin(), config.end());
      requests.push_back(request);
    }
  }
  return requests;
}

// Builds the kernels and their references on all processors, so that the launches find them built. What does not build
// is reported when it is launched.
void build_all(Engine& engine, const std::vector<Request>& requests) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < requests.size(); i = next++) {
      Request request = requests[i];
      for (const bool reference : {false, true}) {
        request.reference = reference;
        if (const auto plan = engine.plan(request)) static_cast<void>(engine.build(*plan));
      }
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
}

bool serves(Engine& engine, const KernelInfo& info) {
  const std::string arch = engine.device().value().arch;
  return std::any_of(info.archs.begin(), info.archs.end(),
                     [&](const std::string& listed) { return plan::serves(listed, arch); });
}

}  // namespace

TEST_CASE("every probe agrees with its reference in every configuration") {
  Engine engine;
  int probes = 0;
  std::vector<Request> requests;
  for (const auto& info : engine.kernels()) {
    REQUIRE_MESSAGE(info, (info ? "" : info.error().text()));
    if (!info->probe || !serves(engine, *info)) continue;
    CHECK_MESSAGE(info->reference.has_value(), info->kernel);
    ++probes;
    const std::vector<Request> here = requests_of(engine, info->kernel);
    CHECK_MESSAGE(!here.empty(), info->kernel);
    requests.insert(requests.end(), here.begin(), here.end());
  }
  CHECK(probes > 0);
  build_all(engine, requests);
  for (const Request& request : requests) {
    const std::string fault = testing::fault_of(engine, request);
    if (!fault.empty()) FAIL_CHECK(said(request) << "\n" << fault);
  }
  MESSAGE(probes << " probes, " << requests.size() << " configurations");
}

TEST_CASE("a probe of a unit this device lacks is refused with the architectures that have it") {
  Engine engine;
  for (const auto& info : engine.kernels()) {
    if (!info || !info->probe || serves(engine, *info)) continue;
    const auto plan = engine.plan({.kernel = info->kernel});
    REQUIRE_FALSE(plan);
    CHECK(plan.error().code == ErrorCode::unsupported);
    CHECK(plan.error().message.find(info->archs.front()) != std::string::npos);
  }
}

}  // namespace tma_jit
