#include "template/arithmetic.h"

#include <algorithm>
#include <limits>

namespace tma_jit::templates {
namespace {

using Operator = Expression::Node::Operator;

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::string_view kOverflow = "overflow of 64 bits";

Outcome divide(std::int64_t a, std::int64_t b, bool remainder) {
  if (b == 0) return {0, "division by zero"};
  if (a == kLowest && b == -1) return {0, kOverflow};
  return {remainder ? a % b : a / b, {}};
}

Outcome shift(std::int64_t a, std::int64_t b, bool left) {
  if (b < 0 || b > 63) return {0, "shift by other than 0 to 63 bits"};
  if (!left) return {a >> b, {}};
  const auto shifted = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
  if (shifted >> b != a) return {0, kOverflow};
  return {shifted, {}};
}

// Returns the quotient rounded towards positive infinity; b > 0.
Outcome ceil_div(std::int64_t a, std::int64_t b) {
  if (b <= 0) return {0, "divisor that is not positive"};
  return {a / b + (a % b > 0 ? 1 : 0), {}};
}

Outcome multiply(std::int64_t a, std::int64_t b) {
  Outcome result;
  if (__builtin_mul_overflow(a, b, &result.value)) result.fault = kOverflow;
  return result;
}

Outcome align_up(std::int64_t a, std::int64_t b) {
  if (b <= 0) return {0, "alignment that is not positive"};
  return multiply(ceil_div(a, b).value, b);
}

Outcome add(std::int64_t a, std::int64_t b) {
  Outcome result;
  if (__builtin_add_overflow(a, b, &result.value)) result.fault = kOverflow;
  return result;
}

Outcome subtract(std::int64_t a, std::int64_t b) {
  Outcome result;
  if (__builtin_sub_overflow(a, b, &result.value)) result.fault = kOverflow;
  return result;
}

}  // namespace

Outcome apply_unary(Operator op, std::int64_t a) {
  switch (op) {
    case Operator::negate: return subtract(0, a);
    case Operator::logical_not: return {a == 0 ? 1 : 0, {}};
    case Operator::bit_not: return {~a, {}};
    default: return {a, {}};
  }
}

Outcome apply_binary(Operator op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Operator::bit_or: return {a | b, {}};
    case Operator::bit_xor: return {a ^ b, {}};
    case Operator::bit_and: return {a & b, {}};
    case Operator::equal: return {a == b ? 1 : 0, {}};
    case Operator::not_equal: return {a != b ? 1 : 0, {}};
    case Operator::less: return {a < b ? 1 : 0, {}};
    case Operator::less_equal: return {a <= b ? 1 : 0, {}};
    case Operator::greater: return {a > b ? 1 : 0, {}};
    case Operator::greater_equal: return {a >= b ? 1 : 0, {}};
    case Operator::shift_left: return shift(a, b, true);
    case Operator::shift_right: return shift(a, b, false);
    case Operator::add:
    case Operator::sum: return add(a, b);
    case Operator::subtract: return subtract(a, b);
    case Operator::multiply: return multiply(a, b);
    case Operator::divide: return divide(a, b, false);
    case Operator::remainder: return divide(a, b, true);
    case Operator::align_up: return align_up(a, b);
    case Operator::ceil_div: return ceil_div(a, b);
    case Operator::min: return {std::min(a, b), {}};
    case Operator::max: return {std::max(a, b), {}};
    default: return {0, "operator that takes no two operands"};
  }
}

std::string_view spelling(Operator op) {
  constexpr std::string_view kSpellings[] = {
      "",  "||", "&&", "|", "^", "&", "==", "!=", "<", "<=",       ">",        ">=",  "<<",  ">>",
      "+", "-",  "*",  "/", "%", "-", "!",  "~",  "+", "align_up", "ceil_div", "min", "max", "sum"};
  return kSpellings[static_cast<std::size_t>(op)];
}

bool is_function(Operator op) {
  return op >= Operator::align_up;
}

}  // namespace tma_jit::templates
