// Every kernel and probe of the repository, in its presets, on every architecture that it supports: it must agree with
// its float64 reference, and all policies and seeds must give the same result without reports. The test uses one seed
// and a sample of the kernels' problems; TMA_JIT_CLEAN=full uses 20 seeds, all problems and all architectures.
// TMA_JIT_SHARD=I/N selects each N-th kernel, from the I-th on. Needs NVRTC.
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "emulator/replay.h"
#include "gpu/agreement.h"
#include "support/shard.h"

#include <doctest/doctest.h>

namespace tma_jit {
namespace {

using emulator::Policy;

constexpr Policy kPolicies[] = {Policy::lazy, Policy::random, Policy::starved};
constexpr std::uint64_t kSeedsInFull = 20;
constexpr double kCostly = 5e5, kShrunk = 2e6, kTooCostly = 2e7;
constexpr std::size_t kEachCostly = 8;
constexpr int kFewProcessors = 4;

struct Form {
  bool full = false;
  std::uint64_t seeds = 1;
};

Form form_of_this_run() {
  Form form;
  const char* requested = std::getenv("TMA_JIT_CLEAN");
  form.full = requested != nullptr && std::string_view(requested) == "full";
  if (form.full) form.seeds = kSeedsInFull;
  return form;
}

std::set<std::string> probes_of(Engine& engine) {
  std::set<std::string> probes;
  for (const auto& info : engine.kernels()) {
    if (info && info->probe) probes.insert(info->kernel);
  }
  return probes;
}

// Returns the error of one preset; empty if there is none. Looks for races in its reference too if it is asked to.
std::string problem_with(Engine& engine, const std::string& arch, const Request& request,
                         std::span<const Policy> policies, std::uint64_t seeds, bool check_reference) {
  testing::Replay replay(engine, arch, request, check_reference);
  if (!replay.fault().empty()) return replay.name() + ": " + replay.fault();
  for (const Policy policy : policies) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const auto result = replay.run(testing::bounded(policy, seed));
      const std::string how = fmt::format("{}, policy={},seed={}: ", replay.name(), name_of(policy), seed);
      if (!result.report.empty()) return how + result.report;
      if (!result.warnings.empty()) return how + result.warnings.front();
      if (!result.same) return how + "another result than at first";
    }
  }
  return "";
}

// Returns bytes, eighths of operations and 64 for each thread, which take about as long to emulate.
double cost_of(Engine& engine, const Request& request) {
  const auto plan = engine.plan(request);
  if (!plan) return 0;
  double threads = 1;
  for (const auto& extents : {plan->geometry.grid, plan->geometry.block}) {
    for (const std::uint32_t extent : extents) threads *= extent;
  }
  return plan->work.bytes + plan->work.flops / 8 + 64 * threads;
}

// Halves extents until the problem is cheap or no smaller one has a plan: examples with several dims of usual extents
// are large.
Request shrunk(Engine& engine, Request request) {
  double cost = cost_of(engine, request);
  for (bool smaller = true; smaller && cost > kShrunk;) {
    smaller = false;
    for (const auto& [dim, extent] : std::map(request.dims)) {
      Request half = request;
      half.dims[dim] = extent / 2;
      const double of_half = extent > 1 ? cost_of(engine, half) : 0;
      if (of_half == 0 || of_half >= cost) continue;
      request = std::move(half), cost = of_half, smaller = true;
    }
  }
  return request;
}

// What is taken of kernels: in full every preset with every kind of extents, otherwise every third preset with one
// kind, which changes from one to the next, so that every file meets every kind.
plan::ExampleChoice choice_of(const Form& form) {
  if (form.full) return {};
  return {.each = 3, .every_type = false, .every_kind = false};
}

// Of the costly problems of kernels, which take seconds, takes only each eighth, and a smaller one of a file that has
// no others.
std::vector<Request> sample_of(Engine& engine, std::vector<Request> requests) {
  const std::set<std::string> probes = probes_of(engine);
  std::map<std::string, std::vector<Request>> files;
  std::vector<Request> sample;
  for (Request& request : requests) {
    auto& of_file = probes.contains(request.kernel) ? sample : files[request.file];
    of_file.push_back(std::move(request));
  }
  std::size_t costly = 0;
  for (auto& [file, of_file] : files) {
    const std::size_t before = sample.size();
    std::pair<double, Request> cheapest{HUGE_VAL, {}};
    for (Request& request : of_file) {
      const double cost = cost_of(engine, request);
      if (cost < cheapest.first) cheapest = {cost, request};
      if (cost < kCostly || (cost < kTooCostly && costly++ % kEachCostly == 0)) sample.push_back(std::move(request));
    }
    if (sample.size() == before) sample.push_back(shrunk(engine, std::move(cheapest.second)));
  }
  return sample;
}

// Returns an example of the request's configuration for a device of few processors.
std::optional<Request> with_few_processors(Engine& few, Request request) {
  request.dims.clear();
  auto example = few.example(request, {});
  if (!example) return std::nullopt;
  return std::move(*example);
}

// Rules of some files ask for enough work for all processors of a device, which is too much to emulate: a device of few
// processors takes a smaller problem.
void check_arch(const std::string& arch) {
  const Form form = form_of_this_run();
  Engine whole = testing::recording_engine(arch), few = testing::recording_engine(arch, kFewProcessors);
  std::vector<Request> requests = testing::small_presets(whole, arch, choice_of(form), testing::shard_of_this_run());
  if (!form.full) requests = sample_of(whole, std::move(requests));
  std::size_t checked = 0, runs = 0;
  std::set<std::string> files, kernels;
  for (Request& request : requests) {
    const bool costly = !form.full && cost_of(whole, request) > kTooCostly;
    const auto smaller = costly ? with_few_processors(few, request) : std::nullopt;
    if (smaller) request = *smaller;
    const bool all = form.full || files.insert(request.file).second;
    const auto policies = all ? std::span(kPolicies) : std::span(kPolicies).subspan(checked % std::size(kPolicies), 1);
    // References are the same for all targets and files of a kernel.
    const bool check_reference = arch == "sm_90a" && (form.full || kernels.insert(request.kernel).second);
    const std::string problem =
        problem_with(smaller ? few : whole, arch, request, policies, form.seeds, check_reference);
    if (!problem.empty()) FAIL_CHECK(problem);
    ++checked, runs += policies.size() * form.seeds;
  }
  std::printf("%s: %zu presets, run %zu times\n", arch.c_str(), checked, runs);
  CHECK(checked > 0);
}

}  // namespace

TEST_SUITE_BEGIN("clean");

TEST_CASE("every kernel and probe of sm_90a is clean under every policy") {
  check_arch("sm_90a");
}
TEST_CASE("every kernel and probe of sm_100a is clean under every policy") {
  check_arch("sm_100a");
}
TEST_CASE("every kernel and probe of sm_121a is clean under every policy") {
  check_arch("sm_121a");
}
TEST_CASE("every kernel and probe of sm_103a and sm_120a is clean under every policy") {
  if (!form_of_this_run().full) return;  // the units exist on sm_100a and sm_121a only
  check_arch("sm_103a");
  check_arch("sm_120a");
}

TEST_SUITE_END();

}  // namespace tma_jit
