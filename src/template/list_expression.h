// Expressions of lists, changed into those of single entries.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "template/expression.h"

namespace tma_jit::templates {

// A list whose entries are known.
struct List {
  std::string param;                 // how many entries there are
  std::int64_t certain = 0;          // so many there are whatever the param's value
  std::vector<std::string> entries;  // their names
};
using Lists = std::map<std::string, List, std::less<>>;

class ListExpression {
 public:
  // Replaces each list that is a function's argument by its entries. Fails where the argument is no list.
  [[nodiscard]] static Result<void> spread(Expression& expression, const Lists& lists);
  // Returns the first entry, NAME[], that the expression mentions, or nullptr.
  static const Reference* entry_in(const Expression& expression);
  // Returns the list of an entry; fails if there is none.
  [[nodiscard]] static Result<Lists::const_iterator> list_of(const Expression& expression, const Reference& entry,
                                                             const Lists& lists);
  // Returns the expression with each NAME[] replaced by the entry of that index. Fails if one is of a list with another
  // param, or of no list.
  [[nodiscard]] static Result<Expression> of_entry(const Expression& expression, const Lists& lists,
                                                   std::string_view param, std::size_t index);
  // Returns PARAM >= INDEX + 1: whether there is the entry of that index.
  static Expression presence(const Position& at, const std::string& param, std::size_t index);
  // Returns the expression where the entry is there, and elsewhere `otherwise`.
  static Expression where_present(Expression expression, const std::string& param, std::size_t index,
                                  std::int64_t otherwise);

 private:
  static bool is_call_of(const Expression& expression, const Expression::Node& node, std::size_t list);
  static void spread(Expression& expression, std::size_t list, const std::vector<std::string>& entries);
};

// Returns the text with each NAME[] replaced by the entry of that index.
std::string entry_text(std::string text, const Lists& lists, std::size_t index);

}  // namespace tma_jit::templates
