// The words of one manifest line, one at a time. Copyable: a copy is a place to come back to.
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
  std::string_view text;     // as written, the quotes of a text included
  std::string_view problem;  // of an invalid token
  Position at;

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
  bool is_word(std::string_view word) const { return kind == Kind::name && text == word; }
};

// For messages: "\"BM\"", "a text", "the end of the line".
std::string described(const Token& token);

// The content of a text token: quotes off, \" and \\ undone.
std::string unquoted(std::string_view text);

class Lexer {
 public:
  // Reads `line`, which is line number `number` of its file, from `column` (from 0) on.
  Lexer(std::string_view line, int number, std::size_t column);

  const Token& peek() const { return token_; }
  Token take();

  // What is left of the line, the peeked token included; and where the last taken token ended, as a column from 0.
  std::string_view rest() const { return line_.substr(begin_); }
  std::size_t begin() const { return begin_; }
  std::size_t taken_end() const { return taken_end_; }
  std::string_view line() const { return line_; }
  int number() const { return number_; }
  // Continues at `column` (from 0).
  void jump(std::size_t column);

 private:
  void scan();
  std::size_t number_end() const;
  std::size_t text_end() const;
  void set(Token::Kind kind, std::size_t end, std::string_view problem = {});

  std::string_view line_;
  int number_;
  std::size_t begin_ = 0, end_ = 0, taken_end_ = 0;
  Token token_;
};

}  // namespace tma_jit::templates
