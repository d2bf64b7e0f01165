// Parses one expression from a line's tokens by precedence climbing over C++'s operators. Stops at the first token that
// cannot continue the expression and leaves it to the caller.
#pragma once

#include <string>
#include <string_view>

#include "template/expression.h"
#include "template/lexer.h"

namespace tma_jit::templates {

class ExpressionParser {
 public:
  ExpressionParser(const SourcePointer& source, Lexer& lexer) : lexer_(lexer) { expression_.source_ = source; }

  // `what` names the expected part in messages: "a value".
  [[nodiscard]] Result<Expression> parse(std::string_view what);

 private:
  using Node = Expression::Node;
  using Index = Result<int>;

  Index conditional();
  Index binary(int lowest);
  Index unary();
  Index primary();
  Index literal(const Token& token);
  Index name(const Token& token);
  Index call(const Token& token);
  Index of_type(const Token& function, Reference::Kind kind);  // sizeof, integer, dtype
  Index device();
  Index stride();
  Index alignment();
  Index given();
  Index function(Node::Operator op, const Token& token);
  bool list_follows() const;
  // Takes the brackets of an entry of a list, NAME[], if they follow, and returns the name with them.
  [[nodiscard]] Result<std::string> with_brackets(const Token& name);
  Index add(const Node& node);
  Index add_reference(Reference reference);
  [[nodiscard]] Result<Token> expect_name(std::string_view what, std::string_view of = {});
  [[nodiscard]] Result<void> expect(std::string_view symbol, std::string_view where, std::string_view named = {});
  [[nodiscard]] tl::unexpected<Error> error(const Token& token, std::string_view message) const;
  [[nodiscard]] tl::unexpected<Error> unexpected(const Token& token, std::string_view wanted) const;

  Lexer& lexer_;
  Expression expression_;
  std::string_view wanted_ = "an expression";
  int depth_ = 0;
  int comparison_ = Node::kNone;  // the last comparison, unless it stands in parentheses
};

// Returns a symbol and where it is expected, such as "(" and "after", "ceil_div". Only errors need the words.
std::string place_words(std::string_view symbol, std::string_view where, std::string_view named);

// Returns "expected X, found Y", or the problem of the token itself.
std::string unexpected_message(const Token& token, std::string_view wanted);

}  // namespace tma_jit::templates
