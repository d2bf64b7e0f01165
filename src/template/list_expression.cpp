#include "template/list_expression.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/failure.h"

namespace tma_jit::templates {
namespace {

using Node = Expression::Node;
using Operator = Node::Operator;

constexpr std::string_view kBrackets = "[]";

bool is_entry(const Reference& reference) {
  return reference.name.ends_with(kBrackets);
}

std::string without_brackets(const Reference& reference) {
  return reference.name.substr(0, reference.name.size() - kBrackets.size());
}

bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

Node reference_node(const Position& at, std::size_t reference) {
  Node node;
  node.kind = Node::Kind::reference;
  node.at = at;
  node.value = static_cast<std::int64_t>(reference);
  return node;
}

Node literal_node(const Position& at, std::int64_t value) {
  Node node;
  node.at = at;
  node.value = value;
  return node;
}

Node operation_node(const Position& at, Node::Kind kind, Operator op, const std::array<int, 3>& operands) {
  Node node;
  node.kind = kind;
  node.op = op;
  node.at = at;
  node.operands = operands;
  return node;
}

tl::unexpected<Error> unknown_list(const SourceText& source, const Reference& reference, const std::string& name,
                                   const Lists& lists) {
  std::vector<std::string> known;
  for (const auto& [list, declared] : lists) known.push_back(list);
  return unknown_name(tl::make_unexpected(error_at(source, reference.at, fmt::format("unknown list {}", name))), name,
                      known);
}

}  // namespace

Result<void> ListExpression::spread(Expression& expression, const Lists& lists) {
  for (std::size_t i = 0; i < expression.references_.size(); ++i) {
    const Reference& reference = expression.references_[i];
    if (reference.kind != Reference::Kind::list) continue;
    const auto list = lists.find(reference.name);
    if (list == lists.end()) return unknown_list(*expression.source_, reference, reference.name, lists);
    spread(expression, i, list->second.entries);
  }
  return {};
}

// Returns whether the node is a call of a list, which is a reference of that index.
bool ListExpression::is_call_of(const Expression& expression, const Node& node, std::size_t list) {
  if (node.kind != Node::Kind::call || node.operands[1] != Node::kNone) return false;
  const Node& operand = expression.nodes_[static_cast<std::size_t>(node.operands[0])];
  return operand.kind == Node::Kind::reference && operand.value == static_cast<std::int64_t>(list);
}

// The reference becomes one to the first entry. The nodes of the others are put before all nodes, because operands
// precede their node and the root is last.
void ListExpression::spread(Expression& expression, std::size_t list, const std::vector<std::string>& entries) {
  const Position at = expression.references_[list].at;
  std::vector<Node> nodes;
  std::vector<int> others;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    others.push_back(static_cast<int>(nodes.size()));
    nodes.push_back(reference_node(at, expression.references_.size()));
    expression.references_.push_back({Reference::Kind::name, entries[i], 0, at, -1});
  }
  std::vector<int> moved;  // where each node's value is, by its index so far
  for (Node node : expression.nodes_) {
    const bool takes = is_call_of(expression, node, list);
    for (int& operand : node.operands) {
      if (operand != Node::kNone) operand = moved[static_cast<std::size_t>(operand)];
    }
    if (!takes) nodes.push_back(node);
    for (const int other : takes ? others : std::vector<int>()) {
      node.operands[1] = other;
      nodes.push_back(node);
      node.operands[0] = static_cast<int>(nodes.size()) - 1;
    }
    moved.push_back(static_cast<int>(nodes.size()) - 1);
  }
  expression.nodes_ = std::move(nodes);
  expression.references_[list] = {Reference::Kind::name, entries.front(), 0, at, -1};
}

const Reference* ListExpression::entry_in(const Expression& expression) {
  const auto found = std::ranges::find_if(expression.references_, is_entry);
  return found != expression.references_.end() ? &*found : nullptr;
}

Result<Lists::const_iterator> ListExpression::list_of(const Expression& expression, const Reference& entry,
                                                      const Lists& lists) {
  const std::string name = without_brackets(entry);
  const auto list = lists.find(name);
  if (list == lists.end()) return unknown_list(*expression.source_, entry, name, lists);
  return list;
}

Result<Expression> ListExpression::of_entry(const Expression& expression, const Lists& lists, std::string_view param,
                                            std::size_t index) {
  Expression made = expression;
  for (Reference& reference : made.references_) {
    if (!is_entry(reference)) continue;
    TMA_JIT_ASSIGN(const auto list, list_of(expression, reference, lists));
    if (list->second.param != param) {
      return tl::make_unexpected(error_at(
          *expression.source_, reference.at,
          fmt::format("{} has as many entries as {} says, and not as {}", list->first, list->second.param, param)));
    }
    reference.name = list->second.entries[index];
  }
  made.entry_text_ = std::make_shared<const std::string>(entry_text(std::string(expression.text_), lists, index));
  made.text_ = *made.entry_text_;
  return made;
}

Expression ListExpression::presence(const Position& at, const std::string& param, std::size_t index) {
  Expression made;
  made.at_ = at;
  made.references_ = {{Reference::Kind::name, param, 0, at, -1}};
  const auto least = static_cast<std::int64_t>(index) + 1;
  made.nodes_ = {reference_node(made.at_, 0), literal_node(made.at_, least),
                 operation_node(made.at_, Node::Kind::binary, Operator::greater_equal, {0, 1, Node::kNone})};
  made.entry_text_ = std::make_shared<const std::string>(fmt::format("{} >= {}", param, least));
  made.text_ = *made.entry_text_;
  return made;
}

Expression ListExpression::where_present(Expression expression, const std::string& param, std::size_t index,
                                         std::int64_t otherwise) {
  const Position& at = expression.at_;
  std::vector<Node>& nodes = expression.nodes_;
  const int root = static_cast<int>(nodes.size()) - 1;
  nodes.push_back(reference_node(at, expression.references_.size()));
  expression.references_.push_back({Reference::Kind::name, param, 0, at, -1});
  nodes.push_back(literal_node(at, static_cast<std::int64_t>(index) + 1));
  nodes.push_back(operation_node(at, Node::Kind::binary, Operator::greater_equal, {root + 1, root + 2, Node::kNone}));
  nodes.push_back(literal_node(at, otherwise));
  nodes.push_back(operation_node(at, Node::Kind::conditional, Operator::none, {root + 3, root, root + 4}));
  return expression;
}

std::string entry_text(std::string text, const Lists& lists, std::size_t index) {
  for (const auto& [name, list] : lists) {
    const std::string written = name + std::string(kBrackets);
    if (index >= list.entries.size()) continue;
    for (std::size_t at = text.find(written); at != std::string::npos; at = text.find(written, at + 1)) {
      if (at == 0 || !is_name_part(text[at - 1])) text.replace(at, written.size(), list.entries[index]);
    }
  }
  return text;
}

}  // namespace tma_jit::templates
