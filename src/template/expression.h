// Integer expressions of a manifest: C++ syntax and precedence, int64 arithmetic in which overflow, division by zero
// and shifts out of range are errors. Immutable; copies share the source text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "template/source_text.h"

namespace tma_jit::templates {

// One thing an expression asks its scope for.
struct Reference {
  enum class Kind : std::uint8_t {
    name,       // a param, dim or let
    type_size,  // sizeof(name), in bytes; sizeof of a concrete dtype is a literal, not a reference
    device,     // device.name
    stride,     // stride(name, dimension), in elements; dimension 0 is the outermost
    alignment,  // alignment(name), in bytes
  };
  Kind kind = Kind::name;
  std::string name;
  int dimension = 0;
  Position at;
  int id = -1;  // index into Template::references: equal for equal references anywhere in one template

  std::string text() const;  // "M", "sizeof(T)", "device.sm_count", "stride(A, 0)", "alignment(A)"
};

// Where names get their values. An error is passed on by `evaluate` as it is.
class Scope {
 public:
  virtual ~Scope() = default;
  [[nodiscard]] virtual Result<std::int64_t> value(const Reference& reference) const = 0;
};

class Expression {
 public:
  struct Node;

  // The constant 0, with no text.
  Expression();
  explicit Expression(std::int64_t constant);

  // && || and ?: evaluate only what they need. Arithmetic errors are ErrorCode::parse errors at the operator, with
  // the operands' values: "gemm.cu:12:30: division by zero: 4096 / 0".
  [[nodiscard]] Result<std::int64_t> evaluate(const Scope& scope) const;

  // The value of an expression that refers to nothing; nullopt when it refers to something or does not evaluate.
  std::optional<std::int64_t> constant() const;

  // Distinct references in the order of their first appearance.
  const std::vector<Reference>& references() const { return references_; }
  // The names among them (params, dims, lets).
  std::vector<std::string> names() const;
  // The name, when the expression is nothing but one name.
  std::optional<std::string_view> single_name() const;

  std::string_view text() const { return text_; }  // as written
  const Position& at() const { return at_; }
  std::string file_and_line() const;  // "templates/kernels/gemm_wgmma.cu:19"

  // "N = 4097, sizeof(T) = 2": every reference with its value, for messages. Those without a value are left out.
  std::string values(const Scope& scope) const;

 private:
  friend class ExpressionParser;
  friend class ReferenceTable;
  SourcePointer source_;
  std::string_view text_;  // into source_
  Position at_;
  std::vector<Node> nodes_;  // the operands of a node come before it; the last is the root
  std::vector<Reference> references_;
};

struct Expression::Node {
  enum class Kind : std::uint8_t { literal, reference, unary, binary, conditional, call };
  enum class Operator : std::uint8_t {
    none,
    logical_or,
    logical_and,
    bit_or,
    bit_xor,
    bit_and,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    shift_left,
    shift_right,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    negate,
    logical_not,
    bit_not,
    plus,
    align_up,
    ceil_div,
    min,
    max,
  };
  Kind kind = Kind::literal;
  Operator op = Operator::none;
  std::int64_t value = 0;     // of a literal; the index of a reference
  std::vector<int> operands;  // indices of nodes
  Position at;                // of the operator or name
};

// An expression from text of its own, e.g. for a test. Names are not checked against anything.
[[nodiscard]] Result<Expression> parse_expression(std::string_view text, std::string_view file = "expression");

}  // namespace tma_jit::templates
