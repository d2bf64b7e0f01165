// Tokens of PTX text. A word includes the dots and double colons of opcodes and special registers, so that
// "mbarrier.try_wait.parity.shared::cta.b64" and "%tid.x" are one token each. A directive ends before the next dot, so
// that ".reg.b16" is two tokens.
#pragma once

#include <string_view>

#include "emulator/word.h"

namespace tma_jit::emulator::ptx {

struct Token {
  enum class Kind : u8 { end, word, integer, real, string, punctuation };
  Kind kind = Kind::end;
  std::string_view text;  // into the text given to the lexer; strings without their quotes
  u64 bits = 0;           // an integer's value; a real's IEEE bits, 64-bit unless `single`
  bool single = false;    // 0f3F800000
  u32 line = 0;

  bool is(char c) const { return kind == Kind::punctuation && text[0] == c; }
  bool is(std::string_view word) const { return kind == Kind::word && text == word; }
};

// Throws Fault{syntax} for text that begins no token. The text must outlive the tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& peek() const { return current_; }
  Token next();
  // Skips to the end of the current token's line, where debug directives end.
  void skip_line();
  u32 line() const { return current_.line; }

 private:
  void advance();
  void skip_blank();
  void skip_comment();
  void read_number();
  void read_float_bits(std::size_t digits);
  void read_word();
  void read_string();
  void take(Token::Kind kind, std::size_t length);

  std::string_view text_;
  std::size_t at_ = 0;
  u32 line_ = 1;
  Token current_;
};

}  // namespace tma_jit::emulator::ptx
