#include "source/directives.h"

#include <optional>
#include <utility>

#include "base/text.h"

namespace tma_jit::emission {
namespace {

struct Piece {
  enum class Kind { code, literal, comment } kind;
  std::size_t length;
};

std::size_t literal_length(std::string_view text) {
  for (std::size_t i = 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[0]) {
      return i + 1;
    }
  }
  return 1;
}

// Cuts text into comments, literals and single characters of code. A block comment may run on into the next text.
class Lexer {
 public:
  Piece next(std::string_view text) {
    if (!inside_ && text.starts_with("//")) return {Piece::Kind::comment, std::min(text.find('\n'), text.size())};
    if (inside_ || text.starts_with("/*")) return block_comment(text);
    const bool literal = text[0] == '"' || text[0] == '\'';
    const std::size_t length = literal ? literal_length(text) : 1;
    return {length > 1 ? Piece::Kind::literal : Piece::Kind::code, length};
  }
  bool inside_comment() const { return inside_; }

 private:
  Piece block_comment(std::string_view text) {
    const std::size_t close = text.find("*/", inside_ ? 0 : 2);
    inside_ = close == std::string_view::npos;
    return {Piece::Kind::comment, inside_ ? text.size() : close + 2};
  }

  bool inside_ = false;
};

std::string without_comments(std::string_view text, Lexer& lexer) {
  std::string kept;
  while (!text.empty()) {
    const Piece piece = lexer.next(text);
    kept += piece.kind == Piece::Kind::comment ? std::string_view(" ") : text.substr(0, piece.length);
    text.remove_prefix(piece.length);
  }
  return kept;
}

// "include", "pragma", ... and what follows it.
std::pair<std::string_view, std::string_view> split_word(std::string_view text) {
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
  if (end == std::string_view::npos) return {text, {}};
  return {text.substr(0, end), trimmed(text.substr(end))};
}

std::optional<Directive> include(std::string_view operand) {
  if (operand.empty()) return std::nullopt;
  const bool quoted = operand[0] == '"';
  if (!quoted && operand[0] != '<') return std::nullopt;
  const std::size_t close = operand.find(quoted ? '"' : '>', 1);
  if (close == std::string_view::npos) return std::nullopt;
  const auto kind = quoted ? Directive::Kind::include_quoted : Directive::Kind::include_angled;
  return Directive{kind, std::string(operand.substr(1, close - 1))};
}

std::optional<Directive> parse(std::string_view line) {
  line = trimmed(line);
  if (line.empty() || line[0] != '#') return std::nullopt;
  const auto [word, operand] = split_word(trimmed(line.substr(1)));
  if (word == "include") return include(operand);
  if (word == "pragma" && operand == "once") return Directive{Directive::Kind::pragma_once, {}};
  if (word == "line") return Directive{Directive::Kind::line, std::string(operand)};
  if (word == "if" || word == "ifdef" || word == "ifndef") return Directive{Directive::Kind::open, {}};
  if (word == "endif") return Directive{Directive::Kind::close, {}};
  return std::nullopt;
}

// Most lines can be passed over whole: no directive, and no block comment that begins, runs on or ends.
bool is_plain(std::string_view line, const Lexer& lexer) {
  if (lexer.inside_comment() || line.find("/*") != std::string_view::npos) return false;
  const std::size_t first = line.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || line[first] != '#';
}

}  // namespace

std::vector<Directive> directives_of(std::string_view text) {
  std::vector<Directive> found;
  Lexer lexer;
  std::size_t begin = 0;
  for (int line = 1; begin < text.size(); ++line) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == std::string_view::npos ? text.size() : newline + 1;
    const std::string_view whole = text.substr(begin, end - begin);
    if (!is_plain(whole, lexer)) {
      if (auto directive = parse(without_comments(whole, lexer))) {
        directive->line = line;
        directive->begin = begin;
        directive->end = end;
        found.push_back(std::move(*directive));
      }
    }
    begin = end;
  }
  return found;
}

std::string blanked(std::string_view text) {
  std::string out;
  Lexer lexer;
  while (!text.empty()) {
    const Piece piece = lexer.next(text);
    for (const char c : text.substr(0, piece.length)) {
      out.push_back(piece.kind == Piece::Kind::code || c == '\n' ? c : ' ');
    }
    text.remove_prefix(piece.length);
  }
  return out;
}

}  // namespace tma_jit::emission
