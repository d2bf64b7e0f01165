#include "template/expression.h"

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

std::string operation(Operator op, std::int64_t a, std::int64_t b) {
  if (is_function(op)) return fmt::format("{}({}, {})", spelling(op), a, b);
  return fmt::format("{} {} {}", a, spelling(op), b);
}

struct Evaluator {
  const SourceText* source;
  const std::vector<Node>& nodes;
  const std::vector<Reference>& references;
  const Scope& scope;

  Result<std::int64_t> node(int index) const;
  Result<std::int64_t> unary(const Node& here) const;
  Result<std::int64_t> binary(const Node& here) const;
  Result<std::int64_t> conditional(const Node& here) const;
  Result<std::int64_t> logical(const Node& here) const;
  Result<std::int64_t> call(const Node& here) const;
  tl::unexpected<Error> fault(const Node& here, std::string_view what, std::string_view operands) const {
    return tl::make_unexpected(error_at(*source, here.at, fmt::format("{}: {}", what, operands)));
  }
};

Result<std::int64_t> Evaluator::node(int index) const {
  const Node& here = nodes[static_cast<std::size_t>(index)];
  switch (here.kind) {
    case Node::Kind::literal: return here.value;
    case Node::Kind::reference: return scope.value(references[static_cast<std::size_t>(here.value)]);
    case Node::Kind::unary: return unary(here);
    case Node::Kind::binary: return binary(here);
    case Node::Kind::conditional: return conditional(here);
    case Node::Kind::call: return call(here);
  }
  return 0;
}

Result<std::int64_t> Evaluator::unary(const Node& here) const {
  TMA_JIT_ASSIGN(const std::int64_t a, node(here.operands[0]));
  const Outcome outcome = apply_unary(here.op, a);
  if (!outcome.fault.empty()) return fault(here, outcome.fault, fmt::format("{}({})", spelling(here.op), a));
  return outcome.value;
}

Result<std::int64_t> Evaluator::logical(const Node& here) const {
  TMA_JIT_ASSIGN(const std::int64_t a, node(here.operands[0]));
  if ((a != 0) == (here.op == Operator::logical_or)) return a != 0 ? 1 : 0;
  TMA_JIT_ASSIGN(const std::int64_t b, node(here.operands[1]));
  return b != 0 ? 1 : 0;
}

Result<std::int64_t> Evaluator::binary(const Node& here) const {
  if (here.op == Operator::logical_or || here.op == Operator::logical_and) return logical(here);
  TMA_JIT_ASSIGN(const std::int64_t a, node(here.operands[0]));
  TMA_JIT_ASSIGN(const std::int64_t b, node(here.operands[1]));
  const Outcome outcome = apply_binary(here.op, a, b);
  if (!outcome.fault.empty()) return fault(here, outcome.fault, operation(here.op, a, b));
  return outcome.value;
}

Result<std::int64_t> Evaluator::conditional(const Node& here) const {
  TMA_JIT_ASSIGN(const std::int64_t chosen, node(here.operands[0]));
  return node(here.operands[chosen != 0 ? 1 : 2]);
}

// Evaluates a function of two or more operands, applied from the left.
Result<std::int64_t> Evaluator::call(const Node& here) const {
  TMA_JIT_ASSIGN(std::int64_t a, node(here.operands[0]));
  for (std::size_t i = 1; i < here.operands.size(); ++i) {
    TMA_JIT_ASSIGN(const std::int64_t b, node(here.operands[i]));
    const Outcome outcome = apply_binary(here.op, a, b);
    if (!outcome.fault.empty()) return fault(here, outcome.fault, operation(here.op, a, b));
    a = outcome.value;
  }
  return a;
}

}  // namespace

std::string Reference::text() const {
  switch (kind) {
    case Kind::name:
    case Kind::list: return name;
    case Kind::type_size: return fmt::format("sizeof({})", name);
    case Kind::integer: return fmt::format("integer({})", name);
    case Kind::device: return fmt::format("device.{}", name);
    case Kind::stride: return fmt::format("stride({}, {})", name, dimension);
    case Kind::alignment: return fmt::format("alignment({})", name);
    case Kind::given: return fmt::format("given({})", name);
  }
  return name;
}

Expression::Expression() : Expression(0) {}

Expression::Expression(std::int64_t constant) {
  Node literal;
  literal.value = constant;
  nodes_.push_back(literal);
}

Result<std::int64_t> Expression::evaluate(const Scope& scope) const {
  const Evaluator evaluator{source_.get(), nodes_, references_, scope};
  return evaluator.node(static_cast<int>(nodes_.size()) - 1);
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

std::string Expression::file_and_line() const {
  return fmt::format("{}:{}", source_ ? source_->file : std::string(), at_.line);
}

std::string Expression::values(const Scope& scope) const {
  std::string list;
  for (const Reference& reference : references_) {
    const Result<std::int64_t> value = scope.value(reference);
    if (value) list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", reference.text(), *value);
  }
  return list;
}

}  // namespace tma_jit::templates
