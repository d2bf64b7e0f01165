// Splits one manifest line into tokens, one at a time. A copy remembers a position to return to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "template/source_text.h"

namespace tma_jit::templates {

struct Token {
  enum class Kind : std::uint8_t { end, name, number, text, symbol, invalid };
  Kind kind = Kind::end;
  std::string_view text;     // as written, including the quotes of a text
  std::string_view problem;  // what is wrong with an invalid token
  Position at;

  bool is(std::string_view symbol) const {
    return kind == Kind::symbol && text.front() == symbol.front() && text == symbol;
  }
  bool is_word(std::string_view word) const { return kind == Kind::name && text == word; }
};

// Returns a description for messages: "\"BM\"", "a text", "the end of the line".
std::string described(const Token& token);

// Returns the content of a text token, without quotes and with \" and \\ replaced.
std::string unquoted(std::string_view text);

class Lexer {
 public:
  // Reads `line`, which is line `number` of its file, from `column` (0-based) on. `file` is that of its positions.
  Lexer(std::string_view line, int number, std::size_t column, int file = 0);

  const Token& peek() const { return token_; }
  Token take();

  // Return the rest of the line, including the peeked token; and the end of the last token taken, as a 0-based column.
  std::string_view rest() const { return line_.substr(begin_); }
  std::size_t begin() const { return begin_; }
  std::size_t taken_end() const { return taken_end_; }
  std::string_view line() const { return line_; }
  int number() const { return number_; }
  int file() const { return file_; }
  // Continues at `column` (0-based).
  void jump(std::size_t column);

 private:
  void scan();
  std::size_t number_end() const;
  std::size_t text_end() const;
  void set(Token::Kind kind, std::size_t end, std::string_view problem = {});

  std::string_view line_;
  int number_;
  int file_;
  std::size_t begin_ = 0, end_ = 0, taken_end_ = 0;
  Token token_;
};

}  // namespace tma_jit::templates
