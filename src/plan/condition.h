// The conditions of a valid configuration: the template's rules, and those that the planner adds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/values.h"

namespace tma_jit::plan {

// Conditions of one stage are evaluated only if all earlier stages hold.
enum class Stage : std::uint8_t {
  fit,      // the configuration has the tensors that the request gives, with their shapes, and what its hooks use
  rule,     // the template's `require` directives
  machine,  // the driver's requirements for tensor maps and launches
};

struct Violation {
  std::string message;
  std::string values;  // values of the names involved; may be empty
};

class Condition {
 public:
  enum class Kind : std::uint8_t { presence, optional_dim, operand, extent, rule, map_memory, tensor_map, grid, block };
  Condition(Kind kind, std::size_t index, std::size_t dimension = 0)
      : kind_(kind), index_(index), dimension_(dimension) {}

  Stage stage() const;
  // Returns whether the condition is one of the template's launch.
  bool of_launch() const { return kind_ == Kind::grid || kind_ == Kind::block; }
  // Returns whether the condition is about the memory of a given tensor, so that most configurations share its outcome.
  bool of_memory() const { return kind_ == Kind::map_memory; }
  // Returns whether the condition requires that something optional is present.
  bool of_presence() const { return kind_ == Kind::presence || kind_ == Kind::optional_dim || kind_ == Kind::operand; }
  // Returns nullopt if the condition holds. An expression that cannot be evaluated is a violation.
  std::optional<Violation> violated(const Values& values) const;

  const templates::Position& at(const Binding& binding) const;
  std::string text(const Binding& binding) const;
  // Returns the indices of the params on which the outcome depends, ascending.
  std::vector<std::size_t> params(const Binding& binding) const;

 private:
  [[nodiscard]] Result<std::optional<Violation>> judged(const Values& values) const;
  [[nodiscard]] Result<std::optional<Violation>> judge_presence(const Values& values) const;
  [[nodiscard]] Result<std::optional<Violation>> judge_optional_dim(const Values& values) const;
  [[nodiscard]] Result<std::optional<Violation>> judge_operand(const Values& values) const;
  [[nodiscard]] Result<std::optional<Violation>> judge_extent(const Values& values) const;
  [[nodiscard]] Result<std::optional<Violation>> judge_rule(const Values& values) const;
  [[nodiscard]] Result<std::optional<Violation>> judge_map_memory(const Values& values) const;
  [[nodiscard]] Result<std::optional<Violation>> judge_tensor_map(const Values& values) const;
  std::vector<const templates::Expression*> expressions(const templates::Template& kernel) const;

  Kind kind_;
  std::size_t index_;      // of the template's rule, tensor, dim or hook
  std::size_t dimension_;  // of the extent, or of the hook's parameter
};

// Returns all conditions, ordered by stage, then by declaration.
std::vector<Condition> conditions_of(const Binding& binding);

// Returns the indices of the params that decide which tensors and dims there are and what shape the tensors have,
// ascending: configurations that differ in them serve different problems.
std::vector<std::size_t> params_of_problem(const templates::Template& kernel);

// Returns whether every condition holds.
bool valid(const Values& values, const std::vector<Condition>& conditions);

}  // namespace tma_jit::plan
