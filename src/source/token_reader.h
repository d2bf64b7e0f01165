// Preprocessing tokens of a CUDA text: translation phases 1 to 3 as NVRTC's front end does them. A backslash before a
// newline (with or without a carriage return) joins lines everywhere but in a raw string literal; trigraphs are off.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tma_jit::source {

struct Token {
  enum class Kind { identifier, number, literal, punctuator, comment, blank, newline, end };
  Kind kind = Kind::end;
  std::string text;       // identifiers and punctuators, lines joined
  std::size_t begin = 0;  // bytes of the text read, [begin, end)
  std::size_t end = 0;
  int line = 0;  // 1-based, of the first byte

  bool is(Kind wanted, std::string_view spelling) const { return kind == wanted && text == spelling; }
};

// Why a text is refused, and where.
struct Refusal {
  int line = 0;
  std::string what;
};

class TokenReader {
 public:
  explicit TokenReader(std::string_view text, std::size_t at = 0, int line = 1) : text_(text), at_(at), line_(line) {}

  // Punctuators are single characters, but for "%:" and the digraphs of brackets, which are two.
  Token next();
  // Of an #include: what stands between its quotes or angle brackets, which this passes over. Returns nullopt where the
  // next character opens neither, or the line ends before it is closed.
  std::optional<std::string> header_name();

  std::size_t at() const { return at_; }
  int line() const { return line_; }
  // Goes on from a position that next() or this class's user found before.
  void move_to(std::size_t at, int line) {
    at_ = at;
    line_ = line;
  }
  // Set where a comment or raw string literal is not closed, and where compilers disagree about what the text is: a
  // comment or a raw string literal goes over lines, and an apostrophe or quotation mark before it on its first line is
  // not closed or separates digits.
  const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  char peek();  // the next character after joined lines; 0 at the end
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
  bool ambiguous_ = false;  // an apostrophe or quotation mark of this line may be read in two ways
  std::optional<Refusal> refusal_;
};

// The text with comments and the insides of literals blanked: same length, same lines.
std::string blanked(std::string_view text);

bool continues_identifier(char c);

}  // namespace tma_jit::source
