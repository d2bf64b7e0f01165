// Ranks configurations by how much they are worth measuring.
#include <algorithm>

#include "core/failure.h"
#include "plan/alike.h"
#include "plan/planner.h"
#include "plan/search.h"
#include "template/operand_declarations.h"

namespace tma_jit::plan {
namespace {

struct Ranked {
  Candidate candidate;
  bool preset = false;
};

Candidate candidate_of(const templates::Template& kernel, const Plan& plan) {
  return {kernel.stem(), types_of(plan), plan.config, plan.work.cycles};
}

// Ranks those of one file; none if it does not accept the request.
Result<std::vector<Ranked>> rank_file(const templates::Template& file, Request request, const DeviceInfo& device,
                                      std::size_t most) {
  std::vector<Ranked> candidates;
  const Result<Plan> plan = plan_with(file, request, device, Reasons::unsaid);
  if (!plan.has_value()) return candidates;
  request.types = types_of(*plan);
  TMA_JIT_ASSIGN(const templates::Template kernel, templates::with_operands(file, request.operands));
  TMA_JIT_ASSIGN(const Binding binding, bind(kernel, request, device));
  TMA_JIT_ASSIGN(const std::vector<Search::Ranked> ranked, Search(binding).rank(most));
  for (const Search::Ranked& one : ranked) {
    Candidate candidate{kernel.stem(), request.types, {}, static_cast<double>(one.cycles)};
    for (std::size_t i = 0; i < one.params.size(); ++i) {
      candidate.params.emplace_back(kernel.params[i].name, one.params[i]);
    }
    candidates.push_back({std::move(candidate), one.preset});
  }
  return candidates;
}

bool same(const Candidate& a, const Candidate& b) {
  return a.file == b.file && a.params == b.params;
}

constexpr std::size_t kFew = 8;                // configurations among which the best one should be
constexpr std::string_view kDepth = "STAGES";  // the param by which templates name how many tiles are in flight

// Returns whether two configurations differ in nothing but how many tiles are in flight.
bool same_but_depth(const Candidate& a, const Candidate& b) {
  return a.file == b.file && std::ranges::equal(a.params, b.params, [](const auto& one, const auto& other) {
           return one == other || (one.first == kDepth && other.first == kDepth);
         });
}

// A file without an estimate of cycles comes after those with one.
bool cheaper(const Ranked& a, const Ranked& b) {
  const double x = a.candidate.cycles, y = b.candidate.cycles;
  return (x > 0) != (y > 0) ? x > 0 : x < y;
}

}  // namespace

// Others and presets take turns. Presets are configurations that were fast when they were measured; of the thousands of
// others the fewest cycles are often those of which the estimate is too low. Others that are the planned configuration
// with another depth are rarely much faster, and are not among the first few.
Result<std::vector<Candidate>> rank(const Request& request, const DeviceInfo& device, TemplatePointers templates,
                                    std::size_t most) {
  TMA_JIT_ASSIGN(const Plan plan, make_plan(request, device, templates));
  TMA_JIT_ASSIGN(const std::vector<const templates::Template*> tried, candidates(request.file, device, templates));
  AlikeRequest alike(request);
  alike.follow(plan.config);
  std::vector<Candidate> ranked;
  std::vector<Ranked> all;
  for (const templates::Template* kernel : tried) {
    if (kernel->file() == plan.file) ranked.push_back(candidate_of(*kernel, plan));
    TMA_JIT_ASSIGN(std::vector<Ranked> some, rank_file(*kernel, alike.in(*kernel), device, most));
    std::ranges::move(some, std::back_inserter(all));
  }
  std::ranges::stable_sort(all, cheaper);
  const auto presets = std::stable_partition(all.begin(), all.end(), [](const Ranked& one) { return !one.preset; });
  auto last = std::stable_partition(all.begin(), presets,
                                    [&](const Ranked& one) { return !same_but_depth(one.candidate, ranked.front()); });
  auto other = all.begin();
  auto preset = presets;
  const auto add = [&](Candidate& candidate) {
    if (!same(candidate, ranked.front())) ranked.push_back(std::move(candidate));
  };
  for (bool turn = false; ranked.size() < most; turn = !turn) {
    if (ranked.size() >= kFew || (other == last && preset == all.end())) {
      std::inplace_merge(other, last, presets, cheaper);
      last = presets;
    }
    if (other == last && preset == all.end()) break;
    const bool take_preset = preset != all.end() && (turn || other == last);
    add((take_preset ? preset++ : other++)->candidate);
  }
  return ranked;
}

}  // namespace tma_jit::plan
