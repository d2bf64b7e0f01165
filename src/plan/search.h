// Chooses the configuration for a request: of the valid presets whose condition holds, the one with the fewest cycles
// (`work cycles E`), the first of equal ones, and the first if the template states none; else the defaults if they are
// valid; else the first valid configuration, with default values tried first. Pinned params always apply. Where a rule
// about one param alone forbids its default, presets that do not set it take the first value that the rule permits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "plan/condition.h"

namespace tma_jit::plan {

// Refers to the binding, which must outlive it. Not thread-safe.
class Search {
 public:
  explicit Search(const Binding& binding);

  // Excludes this configuration from `choose`.
  void avoid(const std::vector<std::pair<std::string, std::int64_t>>& params);

  // Leaves the chosen configuration in `values()`. Returns false if none is valid; `count` then tells why. Fails if
  // there are too many configurations to enumerate.
  [[nodiscard]] Result<bool> choose();
  // Where every param is pinned, leaves that configuration in `values()` and returns whether it satisfies all
  // conditions but those of Stage::machine, which `assemble` finds out.
  [[nodiscard]] bool take_pinned();
  // Returns whether every param is pinned and the configuration satisfies all conditions.
  [[nodiscard]] bool fits();
  // Counts the valid configurations, and those that each condition excludes.
  [[nodiscard]] Result<Enumeration> count();
  // For a search without a valid configuration: if some conditions exclude every configuration, counts only these.
  [[nodiscard]] Result<Enumeration> reasons();

  // Returns the configurations that are most worth measuring, the chosen one first. If the template states cycles: its
  // presets, and at most `most` others with the fewest cycles, the first of equal ones. Else at most `most`: its
  // presets, then those that differ from the chosen one in one param, then those that differ in two. Params that no
  // preset sets say what is computed, and keep their values, as do those that decide which tensors there are. Empty if
  // none is valid. The search cannot be used for another purpose afterwards.
  struct Ranked {
    std::vector<std::int64_t> params;  // in declaration order
    std::int64_t cycles = 0;           // 0 if the template states none
    bool preset = false;               // whether it is one whose condition holds; said only where there are cycles
  };
  [[nodiscard]] Result<std::vector<Ranked>> rank(std::size_t most);

  Values& values() { return values_; }
  const std::vector<Condition>& conditions() const { return conditions_; }

 private:
  // The outcomes of one condition, one per combination of the params it depends on, evaluated on first use.
  struct Table {
    enum class Outcome : std::uint8_t { unknown, holds, violated };
    std::vector<std::size_t> params;
    std::vector<Outcome> outcomes;
    std::int64_t violations = 0;       // number of configurations that violate it
    std::optional<Violation> example;  // the first violation
  };

  bool pinned() const;
  void narrow();
  bool narrow_by(const Condition& condition);
  void settle_asked();
  std::vector<std::size_t> open_problem() const;
  [[nodiscard]] Result<void> prepare();
  Table table_for(const Condition& condition) const;
  bool holds(std::size_t condition);
  bool next();
  bool next_after(std::size_t params);
  bool find_valid();
  std::optional<std::size_t> first_violated();
  std::size_t last_param(std::size_t condition) const;
  bool avoided() const;
  bool unmappable() const;
  bool hopeless();
  void apply();
  bool take(const std::vector<std::int64_t>& params);
  bool replaced(const templates::Preset::Setting& setting) const;
  std::vector<std::int64_t> params_of(const templates::Preset& preset) const;
  bool take_preset(const templates::Preset& preset);
  bool choose_preset();
  std::int64_t cycles();
  using ByCycles = std::map<std::int64_t, std::vector<std::int64_t>>;  // params by their estimate
  ByCycles cheapest(const std::vector<Ranked>& ranked, std::size_t most);
  [[nodiscard]] Result<void> rank_by_cycles(std::vector<Ranked>& ranked, std::size_t most);
  void keep_problem(const std::vector<std::int64_t>& params);
  void rank_near(std::vector<Ranked>& ranked, std::size_t most);
  void rank_presets(std::vector<Ranked>& ranked);
  void add_if_valid(std::vector<Ranked>& ranked, std::vector<std::int64_t> params);
  std::vector<std::int64_t> default_values() const;
  std::vector<std::int64_t> usual_values(const std::vector<std::size_t>& problem);
  std::int64_t sharing(const std::vector<std::size_t>& params) const;
  // Returns whether `found` is true for a combination of values of the given params, with the first values of the
  // others.
  template <class F> bool any_combination(const std::vector<std::size_t>& params, const F& found) {
    std::ranges::fill(at_, 0);
    for (bool more = true; more;) {
      if (found()) return true;
      more = std::any_of(params.rbegin(), params.rend(), [&](std::size_t param) {
        at_[param] = at_[param] + 1 < choices_[param].size() ? at_[param] + 1 : 0;
        return at_[param] != 0;
      });
    }
    return false;
  }
  template <class F> std::int64_t configurations(const std::vector<std::size_t>& params, const F& counted);
  struct Judged {
    std::size_t condition;
    std::vector<std::size_t> params;  // on which it and `fit` depend
  };
  struct Tally {
    Enumeration result;
    std::vector<std::size_t> fit;  // conditions that a configuration must satisfy to count
    std::vector<Judged> judged;
  };
  bool all_hold(const std::vector<std::size_t>& conditions);
  Tally begin_count();
  std::int64_t list_valid(std::vector<std::vector<std::pair<std::string, std::int64_t>>>& configs);
  std::vector<std::pair<std::string, std::int64_t>> named() const;
  std::vector<RuleCount> rule_counts() const;

  const Binding& binding_;
  Values values_;
  std::vector<Condition> conditions_;
  std::vector<std::vector<std::int64_t>> choices_;  // per param, in the order in which they are tried
  std::vector<std::int64_t> usual_;                 // per param, where a preset does not set it
  std::vector<std::size_t> at_;                     // the current configuration, as indices into `choices_`
  std::vector<std::vector<std::int64_t>> avoided_;  // values by param
  std::vector<Table> tables_;                       // per condition; created by `prepare`
  std::vector<std::size_t> order_;                  // of conditions, by the last param on which they depend
  std::size_t changed_ = 0;  // first param that has changed since conditions on those before it were found to hold
};

inline constexpr std::string_view kNoConfig = "no configuration satisfies this request";

// Returns the no_config error: per rule, how many configurations it excludes, its text and the values. If some rules
// exclude every configuration, lists only those.
Error no_config(std::string_view kernel, const Enumeration& enumeration);

}  // namespace tma_jit::plan
