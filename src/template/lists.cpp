#include "template/lists.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/failure.h"
#include "template/expressions_of.h"
#include "template/list_expression.h"

namespace tma_jit::templates {
namespace {

constexpr std::int64_t kMostEntries = 64;

tl::unexpected<Error> error(const Builder& builder, const Position& at, std::string_view message) {
  return tl::make_unexpected(error_at(builder.result.source_of(at), at, message));
}

Result<const Param*> param_of(const Builder& builder, const Token& name) {
  if (const Param* param = builder.result.find_param(name.text)) return param;
  const auto found = builder.names.find(name.text);
  if (found != builder.names.end()) {
    return error(builder, name.at,
                 fmt::format("a param says how many entries a list has, and {} is {}", name.text,
                             described(found->second.kind)));
  }
  return unknown_name(error(builder, name.at, fmt::format("unknown param {}", name.text)), name.text,
                      names_of(builder.names, {NameKind::param}));
}

Result<List> list_of(const Builder& builder, const ListDeclaration& declared) {
  TMA_JIT_ASSIGN(const Param* const param, param_of(builder, declared.param));
  const auto [least, most] = std::ranges::minmax(param->values);
  if (least < 0 || most < 1 || most > kMostEntries) {
    return error(builder, declared.param.at,
                 fmt::format("{} is {} to {}; a list has 1 to {} entries", param->name, least, most, kMostEntries));
  }
  List list{param->name, least, {}};
  for (const Token& entry : declared.entries) list.entries.emplace_back(entry.text);
  if (!list.entries.empty() && static_cast<std::int64_t>(list.entries.size()) != most) {
    return error(builder, declared.entries.front().at,
                 fmt::format("{} has {} entries with a name, and {} counts up to {}", declared.name.text,
                             list.entries.size(), param->name, most));
  }
  for (std::int64_t i = 0; i < most && declared.entries.empty(); ++i) {
    list.entries.push_back(fmt::format("{}{}", declared.name.text, i));
  }
  return list;
}

Result<void> declare_entries(Builder& builder, const ListDeclaration& declared, const List& list) {
  const NameKind kind = std::exchange(builder.names.find(declared.name.text)->second.kind, NameKind::list);
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    const std::string& entry = list.entries[i];
    const Position& at = declared.entries.empty() ? declared.name.at : declared.entries[i].at;
    if (std::string reason = reserved_reason(entry); !reason.empty()) return error(builder, at, reason);
    const auto [known, is_new] = builder.names.emplace(entry, NamedThing{kind, at});
    if (!is_new) {
      return error(builder, at,
                   fmt::format("{} is already declared, as {} on {}", entry, described(known->second.kind),
                               builder.line_text(known->second.at, at)));
    }
  }
  std::vector<std::string>& order = builder.result.order;
  if (const auto at = std::ranges::find(order, declared.name.text); at != order.end()) {
    order.insert(order.erase(at), list.entries.begin(), list.entries.end());
  }
  return {};
}

// Makes the entries of one list, or the rules of one line, of a declaration.
class Entries {
 public:
  Entries(const Lists& lists, std::string name, const List& list, std::size_t index)
      : lists_(lists), name_(std::move(name)), list_(list), index_(index) {}

  Result<Dim> of(Dim dim) const {
    name(dim, "");
    if (!certain()) dim.when = condition(dim.at);
    return dim;
  }
  Result<Let> of(Let let) const {
    name(let, "=");
    TMA_JIT_ASSIGN(let.value, ListExpression::of_entry(let.value, lists_, list_.param, index_));
    if (!certain()) let.value = ListExpression::where_present(std::move(let.value), list_.param, index_, 0);
    return let;
  }
  Result<Tensor> of(Tensor tensor) const {
    name(tensor, ":");
    for (Expression* expression : expressions_of(tensor)) {
      TMA_JIT_ASSIGN(*expression, ListExpression::of_entry(*expression, lists_, list_.param, index_));
    }
    if (certain()) return tensor;
    tensor.when = condition(tensor.at);
    tensor.text += fmt::format(" when {}", tensor.when->text());
    return tensor;
  }
  Result<Rule> of(Rule rule) const {
    rule.list = name_;
    rule.text = entry_text(rule.text, lists_, index_);
    rule.doc = entry_text(rule.doc, lists_, index_);
    TMA_JIT_ASSIGN(rule.condition, ListExpression::of_entry(rule.condition, lists_, list_.param, index_));
    if (!certain()) rule.condition = ListExpression::where_present(std::move(rule.condition), list_.param, index_, 1);
    return rule;
  }

 private:
  bool certain() const { return static_cast<std::int64_t>(index_) < list_.certain; }
  Expression condition(const Position& at) const { return ListExpression::presence(at, list_.param, index_); }
  // `mark` is what follows the list's name and brackets in the declaration's text.
  void name(Declaration& declared, std::string_view mark) const {
    const std::size_t rest = mark.empty() ? name_.size() : declared.text.find(mark);
    declared.name = list_.entries[index_];
    declared.list = name_;
    const std::string_view blank = mark.empty() ? "" : " ";
    declared.text = declared.name + std::string(blank) + entry_text(declared.text.substr(rest), lists_, index_);
    declared.doc = entry_text(declared.doc, lists_, index_);
  }

  const Lists& lists_;
  const std::string name_;
  const List& list_;
  const std::size_t index_;
};

// Replaces the lists among the declarations by their entries.
template <class Declared> Result<void> replace_lists(const Lists& lists, std::vector<Declared>& declarations) {
  std::vector<Declared> made;
  for (Declared& declared : declarations) {
    const auto list = lists.find(declared.name);
    if (list == lists.end()) {
      made.push_back(std::move(declared));
      continue;
    }
    for (std::size_t i = 0; i < list->second.entries.size(); ++i) {
      TMA_JIT_ASSIGN(Declared entry, Entries(lists, list->first, list->second, i).of(declared));
      made.push_back(std::move(entry));
    }
  }
  declarations = std::move(made);
  return {};
}

Result<void> replace_rules(const Lists& lists, std::vector<Rule>& rules) {
  std::vector<Rule> made;
  for (Rule& rule : rules) {
    const Reference* const mentioned = ListExpression::entry_in(rule.condition);
    if (mentioned == nullptr) {
      made.push_back(std::move(rule));
      continue;
    }
    TMA_JIT_ASSIGN(const auto list, ListExpression::list_of(rule.condition, *mentioned, lists));
    for (std::size_t i = 0; i < list->second.entries.size(); ++i) {
      TMA_JIT_ASSIGN(Rule entry, Entries(lists, list->first, list->second, i).of(rule));
      made.push_back(std::move(entry));
    }
  }
  rules = std::move(made);
  return {};
}

// The param says which entries there are, so that a list has no condition of its own.
template <class Declared>
Result<void> check_conditions(const Builder& builder, const std::vector<Declared>& declarations) {
  for (const Declared& declared : declarations) {
    const auto list = builder.lists.find(declared.name);
    if (list == builder.lists.end() || !declared.when) continue;
    return error(builder, declared.when->at(),
                 fmt::format("{} says which entries of {} there are; a list has no when", list->second.param.text,
                             declared.name));
  }
  return {};
}

}  // namespace

Result<void> expand_lists(Builder& builder) {
  Template& kernel = builder.result;
  TMA_JIT_CHECK(check_conditions(builder, kernel.dims));
  TMA_JIT_CHECK(check_conditions(builder, kernel.tensors));
  Lists lists;
  for (const auto& [name, declared] : builder.lists) {
    TMA_JIT_ASSIGN(List list, list_of(builder, declared));
    TMA_JIT_CHECK(declare_entries(builder, declared, list));
    lists.emplace(name, std::move(list));
  }
  for (Expression* expression : expressions_of(kernel)) TMA_JIT_CHECK(ListExpression::spread(*expression, lists));
  TMA_JIT_CHECK(replace_lists(lists, kernel.dims));
  TMA_JIT_CHECK(replace_lists(lists, kernel.lets));
  TMA_JIT_CHECK(replace_lists(lists, kernel.tensors));
  return replace_rules(lists, kernel.rules);
}

}  // namespace tma_jit::templates
