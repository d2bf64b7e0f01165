// Which configuration a request gets: of the presets that match and are valid the one of the fewest cycles (`work
// cycles E`), the first of equals and where the template states none; else the defaults, else the first valid one of
// all, defaults tried first. Pinned params hold throughout.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/condition.h"

namespace tma_jit::plan {

// Refers to the binding, which must outlive it. One thread at a time.
class Search {
 public:
  explicit Search(const Binding& binding);

  // `choose` passes over this configuration.
  void avoid(const std::vector<std::pair<std::string, std::int64_t>>& params);

  // Leaves the chosen configuration in `values()`. Returns false where there is no valid one; `count` says why. Fails
  // where there are too many configurations to look at.
  [[nodiscard]] Result<bool> choose();
  // Judges every configuration.
  [[nodiscard]] Result<Enumeration> count();

  // The configurations most worth measuring, at most `most`, the chosen one first. Where the template states cycles:
  // those of the fewest, of equal ones the first. Else its presets, and then what differs from the chosen one in one
  // param. Empty where there is no valid one.
  struct Ranked {
    std::vector<std::int64_t> params;  // in declaration order
    std::int64_t cycles = 0;           // 0: the template states none
  };
  Result<std::vector<Ranked>> rank(std::size_t most);

  Values& values() { return values_; }
  const std::vector<Condition>& conditions() const { return conditions_; }

 private:
  // One outcome per combination of the params a condition depends on, judged when first met.
  struct Table {
    enum class Outcome : std::uint8_t { unknown, holds, violated };
    std::vector<std::size_t> params;
    std::vector<Outcome> outcomes;
    std::int64_t violations = 0;       // configurations counted against it
    std::optional<Violation> example;  // the first
  };

  void narrow();
  bool narrow_by(const Condition& condition);
  [[nodiscard]] Result<void> prepare();
  Table table_for(const Condition& condition) const;
  bool holds(std::size_t condition);
  bool stage_holds(Stage stage, bool counting);
  bool next();
  bool all_hold();
  bool avoided() const;
  void apply();
  bool take(const std::vector<std::int64_t>& params);
  std::vector<std::int64_t> params_of(const templates::Preset& preset) const;
  bool choose_preset();
  std::int64_t cycles();
  [[nodiscard]] Result<void> rank_by_cycles(std::vector<Ranked>& ranked, std::size_t most);
  void rank_near(std::vector<Ranked>& ranked, std::size_t most);
  void add_if_valid(std::vector<Ranked>& ranked, std::vector<std::int64_t> params);
  std::vector<std::int64_t> default_values() const;
  std::vector<std::pair<std::string, std::int64_t>> named() const;
  std::vector<RuleCount> rule_counts(bool fits) const;

  const Binding& binding_;
  Values values_;
  std::vector<Condition> conditions_;
  std::vector<std::vector<std::int64_t>> choices_;  // by param, in the order they are tried
  std::vector<std::size_t> at_;                     // the current configuration, as positions in `choices_`
  std::vector<std::vector<std::int64_t>> avoided_;  // by param
  std::vector<Table> tables_;                       // by condition; made by `prepare`
};

inline constexpr std::string_view kNoConfig = "no configuration satisfies this request";

// no_config: per rule, how many configurations it rules out, its text and the values. Where some rules exclude every
// configuration, only those are reported.
Error no_config(std::string_view kernel, const Enumeration& enumeration);

}  // namespace tma_jit::plan
