// Why no configuration is valid: how many of them each condition excludes. A template may have millions, but a
// condition depends on few params, and so do those of Stage::fit, which decide what counts as a configuration at all.
// So each condition is judged on the combinations of these params alone, and each combination counts for as many
// configurations as the other params have values.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/failure.h"
#include "plan/search.h"

namespace tma_jit::plan {
namespace {

constexpr std::size_t kListedMax = 4096;  // the limit documented for Enumeration::valid_configs

using Params = std::vector<std::size_t>;  // ascending indices

Params united(const Params& a, const Params& b) {
  Params both;
  std::ranges::set_union(a, b, std::back_inserter(both));
  return both;
}

}  // namespace

// Returns how many configurations have the same values of the given params.
std::int64_t Search::sharing(const Params& params) const {
  std::int64_t product = 1;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (!std::ranges::binary_search(params, i)) product *= static_cast<std::int64_t>(choices_[i].size());
  }
  return product;
}

// Returns the number of configurations for which `counted` is true, which depends on the given params only.
template <class F> std::int64_t Search::configurations(const Params& params, const F& counted) {
  std::int64_t combinations = 0;
  any_combination(params, [&] {
    combinations += counted() ? 1 : 0;
    return false;
  });
  return combinations * sharing(params);
}

std::vector<std::pair<std::string, std::int64_t>> Search::named() const {
  std::vector<std::pair<std::string, std::int64_t>> config;
  for (std::size_t i = 0; i < at_.size(); ++i) {
    config.emplace_back(binding_.kernel->params[i].name, choices_[i][at_[i]]);
  }
  return config;
}

std::vector<RuleCount> Search::rule_counts() const {
  std::vector<RuleCount> counts;
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const Table& table = tables_[i];
    if (table.violations == 0) continue;
    const templates::Position& at = conditions_[i].at(binding_);
    counts.push_back({binding_.kernel->source_of(at).file, at.line, conditions_[i].text(binding_),
                      table.example->message, table.example->values, table.violations});
  }
  return counts;
}

// Lists the valid configurations and returns their number.
std::int64_t Search::list_valid(std::vector<std::vector<std::pair<std::string, std::int64_t>>>& configs) {
  std::ranges::fill(at_, 0);
  changed_ = 0;
  std::int64_t valid = 0;
  for (bool found = find_valid(); found; found = next() && find_valid()) {
    ++valid;
    if (configs.size() < kListedMax) configs.push_back(named());
  }
  return valid;
}

// Returns whether the configuration in `at_` satisfies each of the conditions.
bool Search::all_hold(const std::vector<std::size_t>& conditions) {
  return std::ranges::all_of(conditions, [&](std::size_t i) { return holds(i); });
}

// Returns an enumeration without rules, and the conditions that decide: if no configuration fits, those of Stage::fit.
// Otherwise both later stages count, so that a condition that no configuration can satisfy (a pitch, for example) is
// reported as excluding all of them.
Search::Tally Search::begin_count() {
  Tally tally;
  Params of_fit;
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    if (conditions_[i].stage() != Stage::fit) continue;
    tally.fit.push_back(i);
    of_fit = united(of_fit, tables_[i].params);
  }
  Enumeration& result = tally.result;
  result.file = binding_.kernel->file();
  result.configurations = configurations(of_fit, [&] { return all_hold(tally.fit); });
  const bool any = result.configurations != 0;
  if (!any) {
    result.configurations = sharing({});
    tally.fit.clear();
    of_fit.clear();
  }
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    if ((conditions_[i].stage() == Stage::fit) == any) continue;
    tally.judged.push_back({i, united(of_fit, tables_[i].params)});
  }
  return tally;
}

Result<Enumeration> Search::count() {
  TMA_JIT_CHECK(prepare());
  Tally tally = begin_count();
  Enumeration& result = tally.result;
  bool all = false;
  for (const Judged& one : tally.judged) {
    std::int64_t& violations = tables_[one.condition].violations;
    violations = configurations(one.params, [&] { return all_hold(tally.fit) && !holds(one.condition); });
    all = all || violations == result.configurations;
  }
  if (!all) result.valid = list_valid(result.valid_configs);
  result.rules = rule_counts();
  return std::move(result);
}

Result<Enumeration> Search::reasons() {
  TMA_JIT_CHECK(prepare());
  Tally tally = begin_count();
  for (const Judged& one : tally.judged) {
    if (any_combination(one.params, [&] { return all_hold(tally.fit) && holds(one.condition); })) continue;
    tables_[one.condition].violations = tally.result.configurations;
  }
  tally.result.rules = rule_counts();
  return tally.result.rules.empty() ? count() : std::move(tally.result);
}

Error no_config(std::string_view kernel, const Enumeration& enumeration) {
  Error error{ErrorCode::no_config, fmt::format("{}: {}", kernel, kNoConfig), {}};
  const std::int64_t total = enumeration.configurations;
  const bool decisive =
      std::ranges::any_of(enumeration.rules, [&](const RuleCount& r) { return r.ruled_out == total; });
  for (const RuleCount& rule : enumeration.rules) {
    if (decisive && rule.ruled_out != total) continue;
    const std::string share = total == 1                ? "the only configuration violates"
                              : rule.ruled_out == total ? fmt::format("all {} violate", total)
                                                        : fmt::format("{} of {} violate", rule.ruled_out, total);
    if (!error.detail.empty()) error.detail += '\n';
    error.detail += fmt::format("{}:{}: {}  {}", rule.file, rule.line, share, rule.rule);
    if (!rule.message.empty()) error.detail += "\n  " + rule.message;
    if (!rule.values.empty()) error.detail += "\n  " + rule.values;
  }
  return error;
}

}  // namespace tma_jit::plan
