#include "source/meaning.h"

#include <utility>

#include "base/by_text.h"
#include "source/token_reader.h"
#include "template/lexer.h"

namespace tma_jit::source {
namespace {

constexpr std::string_view kManifest = "//!";

using Kind = Token::Kind;

// Collects tokens, each with a byte after it that no token has at its end.
class Tokens {
 public:
  void add(std::string_view token) { text_.append(token).push_back('\n'); }
  Digest digest() const { return sha256(text_.data(), text_.size()); }

 private:
  std::string text_;
};

// A text at the end of a line describes; one elsewhere would be a part of a hook.
void add_manifest_line(std::string_view line, Tokens& tokens) {
  templates::Lexer words(line, 1, kManifest.size());
  while (words.peek().kind != templates::Token::Kind::end) {
    const templates::Token word = words.take();
    const bool last = words.peek().kind == templates::Token::Kind::end;
    if (!last || word.kind != templates::Token::Kind::text) tokens.add(word.text);
  }
  tokens.add(kManifest);
}

// The first two characters, or the last two, of the operators of C++ that are longer than one.
constexpr std::string_view kJoined = "<< >> <= >= == != => && || += -= *= /= %= &= |= ^= ++ -- -> >* .* .. :: ##";

// A blank separates two punctuators that would be one operator without it, and in a directive it says whether a macro
// has parameters.
bool blank_counts(const Token& before, const Token& token, bool directive) {
  if (token.kind != Kind::punctuator) return false;
  if (directive && token.text == "(") return true;
  return before.kind == Kind::punctuator && kJoined.find(before.text + token.text) != kJoined.npos;
}

ByText<Digest> meanings;

}  // namespace

Digest meaning_of(std::string_view text) {
  Tokens tokens;
  TokenReader reader(text);
  Token before;                                          // the last one that was added
  bool begins = true, directive = false, apart = false;  // begins: the line has no token yet
  for (Token token = reader.next(); token.kind != Kind::end; token = reader.next()) {
    const std::string_view spelling = text.substr(token.begin, token.end - token.begin);
    if (token.kind == Kind::comment && spelling.starts_with(kManifest)) add_manifest_line(spelling, tokens);
    if (token.kind == Kind::newline) {
      if (directive) tokens.add({});
      begins = true;
      directive = false;
    }
    if (token.kind == Kind::comment || token.kind == Kind::blank || token.kind == Kind::newline) {
      apart = true;
      continue;
    }
    if (apart && blank_counts(before, token, directive)) tokens.add(" ");
    directive = directive || (begins && token.is(Kind::punctuator, "#"));
    tokens.add(spelling);
    before = std::move(token);
    begins = apart = false;
  }
  return tokens.digest();
}

Digest meaning_of_file(std::string_view name, std::string_view text) {
  return meanings.get(name, text, meaning_of);
}

}  // namespace tma_jit::source
