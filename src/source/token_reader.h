// Preprocessing tokens of a CUDA text: translation phases 1 to 3 as in NVRTC's front end. A backslash before a newline
// (with or without a carriage return) joins lines, except in a raw string literal; trigraphs are disabled.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tma_jit::source {

struct Token {
  enum class Kind { identifier, number, literal, punctuator, comment, blank, newline, end };
  Kind kind = Kind::end;
  std::string text;       // identifiers and punctuators, with joined lines
  std::size_t begin = 0;  // range of bytes in the text, [begin, end)
  std::size_t end = 0;
  int line = 0;  // 1-based line of the first byte

  bool is(Kind wanted, std::string_view spelling) const { return kind == wanted && text == spelling; }
};

// The reason why a text is refused, and its position.
struct Refusal {
  int line = 0;
  std::string what;
};

class TokenReader {
 public:
  explicit TokenReader(std::string_view text, std::size_t at = 0, int line = 1) : text_(text), at_(at), line_(line) {}

  // Punctuators are single characters, except "%:" and the digraphs of brackets, which are two.
  Token next();
  // Reads the name in an #include, between quotes or angle brackets. Returns nullopt if the next character opens
  // neither, or the line ends before it is closed.
  std::optional<std::string> header_name();

  std::size_t at() const { return at_; }
  int line() const { return line_; }
  // Continues at a position returned earlier by next().
  void move_to(std::size_t at, int line) {
    at_ = at;
    line_ = line;
  }
  // Set if a comment or raw string literal is not closed, or if compilers disagree about the tokens: a comment or raw
  // string literal spans lines and its first line contains, before it, an apostrophe or quotation mark that is not
  // closed or separates digits.
  const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  char peek();  // the next character after joining lines; 0 at the end
  char peek_after(char first);
  void step();
  Token::Kind block_comment(int line);
  void line_comment();
  Token::Kind literal();
  void raw_string(int line);
  void identifier(Token& token);
  void number();
  void punctuator(Token& token);
  void refuse(int line, std::string what);
  void went_over_lines(int line, std::string_view what);

  std::string_view text_;
  std::size_t at_;
  int line_;
  bool ambiguous_ = false;  // an apostrophe or quotation mark of this line can be read in two ways
  std::optional<Refusal> refusal_;
};

// Returns the text with comments and the contents of literals replaced by blanks: same length, same lines.
std::string blanked(std::string_view text);

bool continues_identifier(char c);

}  // namespace tma_jit::source
