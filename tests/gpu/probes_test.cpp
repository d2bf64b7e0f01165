// Every probe that this device has, in every valid configuration and with every choice of its types, against its own
// float64 reference: outputs poisoned first, nothing written beside them.
#include <algorithm>
#include <set>

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

// One request for each choice of types, no params pinned.
std::vector<Request> typed_requests(Engine& engine, const std::string& probe) {
  const auto presets = engine.presets(probe);
  REQUIRE_MESSAGE(presets, (presets ? "" : presets.error().text()));
  std::vector<Request> requests;
  std::set<std::map<std::string, DType>> seen;
  for (Request request : *presets) {
    request.params.clear();
    if (seen.insert(request.types).second) requests.push_back(std::move(request));
  }
  return requests;
}

// How many configurations there are; failures are reported.
int check_every_configuration(Engine& engine, const Request& typed) {
  const auto found = engine.enumerate(typed);
  REQUIRE_MESSAGE(found, (found ? "" : found.error().text()));
  CHECK_MESSAGE(found->valid == static_cast<std::int64_t>(found->valid_configs.size()), "more than one test can run");
  for (const auto& config : found->valid_configs) {
    Request request = typed;
    request.params = Params(config.begin(), config.end());
    const std::string fault = testing::fault_of(engine, request);
    if (!fault.empty()) FAIL_CHECK(said(request) << "\n" << fault);
  }
  return static_cast<int>(found->valid_configs.size());
}

bool serves(Engine& engine, const KernelInfo& info) {
  const std::string arch = engine.device().value().arch;
  return std::any_of(info.archs.begin(), info.archs.end(),
                     [&](const std::string& listed) { return planning::serves(listed, arch); });
}

}  // namespace

TEST_CASE("every probe agrees with its reference in every configuration") {
  Engine engine;
  int probes = 0, configurations = 0;
  for (const auto& info : engine.kernels()) {
    REQUIRE_MESSAGE(info, (info ? "" : info.error().text()));
    if (!info->probe || !serves(engine, *info)) continue;
    CHECK_MESSAGE(info->has_reference, info->kernel);
    ++probes;
    int here = 0;
    for (const Request& typed : typed_requests(engine, info->kernel)) here += check_every_configuration(engine, typed);
    CHECK_MESSAGE(here > 0, info->kernel);
    configurations += here;
  }
  CHECK(probes > 0);
  MESSAGE(probes << " probes, " << configurations << " configurations");
}

TEST_CASE("a probe of a unit this device lacks is refused with the architectures that have it") {
  Engine engine;
  const std::string arch = engine.device().value().arch;
  for (const auto& info : engine.kernels()) {
    if (!info || !info->probe || serves(engine, *info)) continue;
    const auto plan = engine.plan({.kernel = info->kernel});
    REQUIRE_FALSE(plan);
    CHECK(plan.error().code == ErrorCode::unsupported);
    CHECK(plan.error().message.find(info->archs.front()) != std::string::npos);
  }
}

}  // namespace tma_jit
