// What makes a configuration valid: the template's rules, and those the planner knows by itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/values.h"

namespace tma_jit::plan {

// Choosing judges the conditions of one stage only where all of the stages before hold.
enum class Stage : std::uint8_t {
  fit,      // the configuration has the tensors that the request gives, with their shapes, and what its hooks name
  rule,     // the template's `require`
  machine,  // what the driver demands of a tensor map and of a launch
};

struct Violation {
  std::string message;
  std::string values;  // of the names involved; may be empty
};

class Condition {
 public:
  enum class Kind : std::uint8_t { presence, operand, extent, rule, tensor_map, launch };
  Condition(Kind kind, std::size_t index, std::size_t dimension = 0)
      : kind_(kind), index_(index), dimension_(dimension) {}

  Stage stage() const;
  // Whether it says that something optional is there.
  bool of_presence() const { return kind_ == Kind::presence || kind_ == Kind::operand; }
  // nullopt: it holds. An expression that cannot be evaluated is a violation.
  std::optional<Violation> violated(const Values& values) const;

  int line(const templates::Template& kernel) const;
  std::string text(const templates::Template& kernel) const;
  // Indices of the params on which the outcome depends, ascending.
  std::vector<std::size_t> params(const Binding& binding) const;

 private:
  [[nodiscard]] Result<std::optional<Violation>> judged(const Values& values) const;
  [[nodiscard]] Result<std::optional<Violation>> judge_presence(const Values& values) const;
  [[nodiscard]] Result<std::optional<Violation>> judge_operand(const Values& values) const;
  [[nodiscard]] Result<std::optional<Violation>> judge_extent(const Values& values) const;
  [[nodiscard]] Result<std::optional<Violation>> judge_rule(const Values& values) const;
  [[nodiscard]] Result<std::optional<Violation>> judge_tensor_map(const Values& values) const;
  std::vector<const templates::Expression*> expressions(const templates::Template& kernel) const;

  Kind kind_;
  std::size_t index_;      // of a rule, tensor or hook of the template
  std::size_t dimension_;  // of an extent, or the hook's parameter
};

// In the order of their stages, then of declaration.
std::vector<Condition> conditions_of(const Binding& binding);

// Whether every condition holds.
bool valid(const Values& values, const std::vector<Condition>& conditions);

}  // namespace tma_jit::plan
