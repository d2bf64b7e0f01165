// int64 arithmetic that reports results that do not exist.
#pragma once

#include <cstdint>
#include <string_view>

#include "template/expression.h"

namespace tma_jit::templates {

struct Outcome {
  std::int64_t value = 0;
  std::string_view fault;  // e.g. "division by zero"; empty if there is a value
};

Outcome apply_unary(Expression::Node::Operator op, std::int64_t a);
Outcome apply_binary(Expression::Node::Operator op, std::int64_t a, std::int64_t b);

// Returns the operator as written, e.g. "+", "align_up".
std::string_view spelling(Expression::Node::Operator op);
bool is_function(Expression::Node::Operator op);

}  // namespace tma_jit::templates
