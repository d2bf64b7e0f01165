// Parses one `//!` line: words, expressions, sets of values, the final doc text. Errors have a position.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/dtype.h>

#include "template/expression.h"
#include "template/lexer.h"
#include "template/template.h"

namespace tma_jit::templates {

class LineParser {
 public:
  // Starts after the `//!`, which ends at `column` (0-based).
  LineParser(SourcePointer source, std::string_view line, int number, std::size_t column, int file = 0)
      : source_(std::move(source)), lexer_(line, number, column, file), declaration_begin_(column) {}

  const Token& peek() const { return lexer_.peek(); }
  Token take() { return lexer_.take(); }
  int file() const { return lexer_.file(); }  // of the positions
  bool at_end() const { return lexer_.peek().kind == Token::Kind::end; }
  bool accept(std::string_view symbol);
  bool accept_word(std::string_view word);
  [[nodiscard]] Result<void> expect(std::string_view symbol, std::string_view where, std::string_view named = {});
  [[nodiscard]] Result<Token> name(std::string_view wanted);

  [[nodiscard]] Result<Expression> expression(std::string_view wanted);
  // Parses E, E and so on, up to `most`.
  [[nodiscard]] Result<std::vector<Expression>> expressions(std::string_view wanted, std::size_t most);
  // Parses [E, E, ...].
  [[nodiscard]] Result<std::vector<Expression>> bracketed(std::string_view wanted);
  // Parses an expression of literals only; `whose` describes it in messages: "a param's values".
  [[nodiscard]] Result<std::int64_t> constant(std::string_view wanted, std::string_view whose);
  [[nodiscard]] Result<TypeName> type_name(std::string_view wanted);
  [[nodiscard]] Result<DType> dtype(std::string_view wanted);
  // Returns the default of a hook: everything up to the doc text or the end of the line, trimmed.
  std::string raw_text();

  // Marks the start of a declaration's text, e.g. after the directive.
  void begin_declaration() { declaration_begin_ = lexer_.begin(); }
  // Parses the optional doc text and the end of the line, and sets `doc` and `text`. `wanted` is what else could have
  // followed, for messages.
  [[nodiscard]] Result<void> finish(Declaration& declaration, std::string_view wanted);

  [[nodiscard]] tl::unexpected<Error> error(const Position& at, std::string_view message) const;
  [[nodiscard]] tl::unexpected<Error> unexpected(std::string_view wanted) const;

  // Returns a position to come back to.
  Lexer mark() const { return lexer_; }
  void back_to(const Lexer& mark) { lexer_ = mark; }

 private:
  std::optional<std::int64_t> plain_number();

  SourcePointer source_;
  Lexer lexer_;
  std::size_t declaration_begin_;
};

}  // namespace tma_jit::templates
