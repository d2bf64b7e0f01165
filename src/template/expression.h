// Integer expressions of a manifest: C++ syntax and precedence, with int64 arithmetic in which overflow, division by
// zero and shifts out of range are errors. Immutable; copies share the source text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/dtype.h>

#include "template/source_text.h"

namespace tma_jit::templates {

// A declaration of a template: the list of Template that has it, and its index there.
struct DeclarationIndex {
  enum class List : std::uint8_t { none, types, dims, params, lets, tensors, hooks };
  List list = List::none;
  std::size_t index = 0;
};

// One value that an expression requests from its scope.
struct Reference {
  enum class Kind : std::uint8_t {
    name,       // a param, dim or let; NAME[], an entry of a list, until lists are expanded
    list,       // the entries of a list, as arguments of a function, until lists are expanded
    type_size,  // sizeof(name) in bytes; sizeof of a concrete dtype is a literal instead
    integer,    // integer(name): 1 for an integer type, else 0; a literal likewise
    dtype,      // dtype(name): a number of its own for each element type; a literal likewise
    device,     // device.name
    stride,     // stride(name, dimension), in elements; dimension 0 is the outermost
    alignment,  // alignment(name), in bytes
    given,      // given(name): 1 if the request has a text of its own for this hook
  };
  Kind kind = Kind::name;
  std::string name;
  int dimension = 0;
  Position at;
  int id = -1;                     // index into Template::references; equal references in a template have equal ids
  DeclarationIndex declaration{};  // what it refers to; known in Template::references

  bool of_type() const { return kind == Kind::type_size || kind == Kind::integer || kind == Kind::dtype; }
  // "M", "sizeof(T)", "integer(T)", "dtype(T)", "device.sm_count", "stride(A, 0)", "alignment(A)", "given(f)"
  std::string text() const;
};

// Returns the value of a reference to a type (Reference::of_type) that is this element type.
std::int64_t value_of(Reference::Kind kind, DType type);

// Provides the values of references. `evaluate` returns its errors unchanged.
class Scope {
 public:
  virtual ~Scope() = default;
  [[nodiscard]] virtual Result<std::int64_t> value(const Reference& reference) const = 0;
  // Returns the same value if the scope has it at hand; nullptr if it must be asked for with `value`.
  [[nodiscard]] virtual const std::int64_t* known(const Reference&) const { return nullptr; }
};

class Expression {
 public:
  struct Node;

  // Creates the constant 0, without text.
  Expression();
  explicit Expression(std::int64_t constant);

  // Evaluates the expression; && || and ?: evaluate only the operands needed. Arithmetic errors are ErrorCode::parse at
  // the operator, with the operands' values: "gemm.cu:12:30: division by zero: 4096 / 0".
  [[nodiscard]] Result<std::int64_t> evaluate(const Scope& scope) const;

  // Returns the value of an expression without references; nullopt if it has references or does not evaluate.
  std::optional<std::int64_t> constant() const;

  // Returns the distinct references in order of first appearance.
  const std::vector<Reference>& references() const { return references_; }
  // Returns the names among them (params, dims, lets).
  std::vector<std::string> names() const;
  // Returns the name if the expression consists of a single name.
  std::optional<std::string_view> single_name() const;
  // Returns the name and the number if the expression is the sum or difference of a single name and a number.
  std::optional<std::pair<std::string_view, std::int64_t>> name_and_number() const;

  // Returns the operands of the outermost &&, from left to right: all are true if and only if this is. Returns a copy
  // of the whole without one. Each has only its own references, and the text of the whole.
  std::vector<Expression> conjuncts() const;

  std::string_view text() const { return text_; }  // as written
  const Position& at() const { return at_; }
  std::string file_and_line() const;  // "templates/kernels/gemm_wgmma.cu:19"

  // Returns every reference with its value, for messages: "N = 4097, sizeof(T) = 2, dtype(T) = f16". Omits those
  // without a value.
  std::string values(const Scope& scope) const;

 private:
  int take(const Expression& from, int node);
  void add_conjuncts(int node, std::vector<Expression>& to) const;

  friend class ExpressionParser;
  friend class ListExpression;
  friend class ReferenceTable;
  SourcePointer source_;
  std::string_view text_;                          // a part of source_ or *entry_text_
  std::shared_ptr<const std::string> entry_text_;  // of an entry of a list
  Position at_;
  std::vector<Node> nodes_;  // operands precede their node; the last is the root
  std::vector<Reference> references_;
};

struct Expression::Node {
  // A call has two operands; one of more arguments is a call of the call of those before the last. Until lists are
  // expanded, a call of a list has that as its only operand.
  enum class Kind : std::uint8_t { literal, reference, unary, binary, conditional, call };
  static constexpr int kNone = -1;
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
    sum,
  };
  Kind kind = Kind::literal;
  Operator op = Operator::none;
  std::array<int, 3> operands = {kNone, kNone, kNone};  // indices of nodes
  std::int64_t value = 0;                               // of a literal, or the index of a reference
  Position at;                                          // position of the operator or name
};

// Parses a separate text, for example in a test. Names are not checked.
[[nodiscard]] Result<Expression> parse_expression(std::string_view text, std::string_view file = "expression");

}  // namespace tma_jit::templates
