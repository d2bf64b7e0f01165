// int64 arithmetic that says when a result does not exist.
#pragma once

#include <cstdint>
#include <string_view>

#include "template/expression.h"

namespace tma_jit::templates {

struct Outcome {
  std::int64_t value = 0;
  std::string_view fault;  // "division by zero"; empty when there is a value
};

Outcome apply_unary(Expression::Node::Operator op, std::int64_t a);
Outcome apply_binary(Expression::Node::Operator op, std::int64_t a, std::int64_t b);

// As written: "+", "align_up".
std::string_view spelling(Expression::Node::Operator op);
bool is_function(Expression::Node::Operator op);

}  // namespace tma_jit::templates
