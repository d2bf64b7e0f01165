#include "template/expression.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/failure.h"
#include "template/arithmetic.h"

namespace tma_jit::templates {
namespace {

using Node = Expression::Node;
using Operator = Node::Operator;

// The scope of an expression without references.
struct EmptyScope final : Scope {
  Result<std::int64_t> value(const Reference& reference) const override {
    return failure(ErrorCode::parse, "{} has no value here", reference.text());
  }
};

std::string applied(Operator op, std::int64_t a, std::int64_t b) {
  if (is_function(op)) return fmt::format("{}({}, {})", spelling(op), a, b);
  return fmt::format("{} {} {}", a, spelling(op), b);
}

// Every function returns whether the node has a value, which it writes to `value`; else `error` says why not. A plan
// evaluates hundreds of expressions of which none fails, and a Result would take as long as the arithmetic.
struct Evaluator {
  const SourceText* source;
  const std::vector<Node>& nodes;
  const std::vector<Reference>& references;
  const Scope& scope;
  std::optional<Error> error{};

  // A literal and what the scope has at hand need no call.
  bool node(int index, std::int64_t& value) {
    const Node& here = nodes[static_cast<std::size_t>(index)];
    if (here.kind == Node::Kind::literal) {
      value = here.value;
      return true;
    }
    return here.kind == Node::Kind::reference ? reference(references[static_cast<std::size_t>(here.value)], value)
                                              : operation(here, value);
  }
  bool operation(const Node& here, std::int64_t& value);
  bool reference(const Reference& here, std::int64_t& value);
  bool unary(const Node& here, std::int64_t& value);
  bool conditional(const Node& here, std::int64_t& value);
  bool logical(const Node& here, std::int64_t& value);
  bool binary(const Node& here, std::int64_t& value);
  // Not inlined, because what composes words would make every call of the others save more registers.
  [[gnu::noinline]] bool fault(const Node& here, std::string_view what, std::int64_t a, std::int64_t b = 0) {
    const std::string operands =
        here.kind == Node::Kind::unary ? fmt::format("{}({})", spelling(here.op), a) : applied(here.op, a, b);
    error = error_at(*source, here.at, fmt::format("{}: {}", what, operands));
    return false;
  }
};

bool Evaluator::operation(const Node& here, std::int64_t& value) {
  if (here.kind == Node::Kind::unary) return unary(here, value);
  if (here.kind == Node::Kind::conditional) return conditional(here, value);
  return here.op == Operator::logical_or || here.op == Operator::logical_and ? logical(here, value)
                                                                             : binary(here, value);
}

bool Evaluator::reference(const Reference& here, std::int64_t& value) {
  if (const std::int64_t* known = scope.known(here); known != nullptr) {
    value = *known;
    return true;
  }
  Result<std::int64_t> found = scope.value(here);
  if (!found) {
    error = std::move(found).error();
    return false;
  }
  value = *found;
  return true;
}

bool Evaluator::unary(const Node& here, std::int64_t& value) {
  if (!node(here.operands[0], value)) return false;
  const Outcome outcome = apply_unary(here.op, value);
  if (!outcome.fault.empty()) return fault(here, outcome.fault, value);
  value = outcome.value;
  return true;
}

bool Evaluator::logical(const Node& here, std::int64_t& value) {
  if (!node(here.operands[0], value)) return false;
  const bool decided = (value != 0) == (here.op == Operator::logical_or);
  if (!decided && !node(here.operands[1], value)) return false;
  value = value != 0 ? 1 : 0;
  return true;
}

bool Evaluator::conditional(const Node& here, std::int64_t& value) {
  return node(here.operands[0], value) && node(here.operands[value != 0 ? 1 : 2], value);
}

// Evaluates an operator or a function of two operands, or of a list that is not expanded, whose value is the scope's.
bool Evaluator::binary(const Node& here, std::int64_t& value) {
  if (here.operands[1] == Node::kNone) return node(here.operands[0], value);
  std::int64_t other = 0;
  if (!node(here.operands[0], value) || !node(here.operands[1], other)) return false;
  const Outcome outcome = apply_binary(here.op, value, other);
  if (!outcome.fault.empty()) return fault(here, outcome.fault, value, other);
  value = outcome.value;
  return true;
}

}  // namespace

std::string Reference::text() const {
  switch (kind) {
    case Kind::name:
    case Kind::list: return name;
    case Kind::type_size: return fmt::format("sizeof({})", name);
    case Kind::integer: return fmt::format("integer({})", name);
    case Kind::dtype: return fmt::format("dtype({})", name);
    case Kind::device: return fmt::format("device.{}", name);
    case Kind::stride: return fmt::format("stride({}, {})", name, dimension);
    case Kind::alignment: return fmt::format("alignment({})", name);
    case Kind::given: return fmt::format("given({})", name);
  }
  return name;
}

std::int64_t value_of(Reference::Kind kind, DType type) {
  if (kind == Reference::Kind::type_size) return static_cast<std::int64_t>(size_of(type));
  if (kind == Reference::Kind::integer) return is_floating_point(type) ? 0 : 1;
  return static_cast<std::int64_t>(type);
}

Expression::Expression() : Expression(0) {}

Expression::Expression(std::int64_t constant) {
  Node literal;
  literal.value = constant;
  nodes_.push_back(literal);
}

Result<std::int64_t> Expression::evaluate(const Scope& scope) const {
  Evaluator evaluator{source_.get(), nodes_, references_, scope};
  std::int64_t value = 0;
  if (evaluator.node(static_cast<int>(nodes_.size()) - 1, value)) return value;
  return tl::make_unexpected(*std::move(evaluator.error));
}

std::optional<std::int64_t> Expression::constant() const {
  if (!references_.empty()) return std::nullopt;
  const Result<std::int64_t> value = evaluate(EmptyScope());
  return value ? std::optional(*value) : std::nullopt;
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> names;
  for (const Reference& reference : references_) {
    if (reference.kind == Reference::Kind::name) names.push_back(reference.name);
  }
  return names;
}

std::optional<std::string_view> Expression::single_name() const {
  if (nodes_.size() != 1 || nodes_[0].kind != Node::Kind::reference) return std::nullopt;
  if (references_[0].kind != Reference::Kind::name) return std::nullopt;
  return references_[0].name;
}

std::optional<std::pair<std::string_view, std::int64_t>> Expression::name_and_number() const {
  if (nodes_.size() != 3 || references_.size() != 1 || references_[0].kind != Reference::Kind::name)
    return std::nullopt;
  const Node& root = nodes_.back();
  if (root.op != Node::Operator::add && root.op != Node::Operator::subtract) return std::nullopt;
  const Node& left = nodes_[static_cast<std::size_t>(root.operands[0])];
  const Node& right = nodes_[static_cast<std::size_t>(root.operands[1])];
  if (left.kind != Node::Kind::reference || right.kind != Node::Kind::literal) return std::nullopt;
  return std::pair(std::string_view(references_[0].name), root.op == Node::Operator::add ? right.value : -right.value);
}

// Adds a node of another expression with its operands and references. Returns its index.
int Expression::take(const Expression& from, int node) {
  Node copy = from.nodes_[static_cast<std::size_t>(node)];
  for (int& operand : copy.operands) {
    if (operand != Node::kNone) operand = take(from, operand);
  }
  if (copy.kind == Node::Kind::reference) {
    const Reference& referred = from.references_[static_cast<std::size_t>(copy.value)];
    const auto known = std::ranges::find(references_, referred.text(), &Reference::text);
    copy.value = known - references_.begin();
    if (known == references_.end()) references_.push_back(referred);
  }
  nodes_.push_back(copy);
  return static_cast<int>(nodes_.size()) - 1;
}

void Expression::add_conjuncts(int node, std::vector<Expression>& to) const {
  const Node& root = nodes_[static_cast<std::size_t>(node)];
  if (root.op == Node::Operator::logical_and) {
    add_conjuncts(root.operands[0], to);
    add_conjuncts(root.operands[1], to);
    return;
  }
  Expression part = *this;
  part.nodes_.clear();
  part.references_.clear();
  part.take(*this, node);
  to.push_back(std::move(part));
}

std::vector<Expression> Expression::conjuncts() const {
  std::vector<Expression> parts;
  add_conjuncts(static_cast<int>(nodes_.size()) - 1, parts);
  return parts;
}

std::string Expression::file_and_line() const {
  return fmt::format("{}:{}", source_ ? source_->file : std::string(), at_.line);
}

std::string Expression::values(const Scope& scope) const {
  std::string list;
  for (const Reference& reference : references_) {
    const Result<std::int64_t> value = scope.value(reference);
    if (!value) continue;
    const std::string text = reference.kind == Reference::Kind::dtype ? std::string(name_of(static_cast<DType>(*value)))
                                                                      : fmt::format("{}", *value);
    list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", reference.text(), text);
  }
  return list;
}

}  // namespace tma_jit::templates
