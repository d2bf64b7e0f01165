#include "source/preprocessor_lines.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace tma_jit::source {
namespace {

using Kind = Token::Kind;

constexpr std::array<std::string_view, 3> kTimes = {"__DATE__", "__TIME__", "__TIMESTAMP__"};
// Directives that are refused: #include_next and others whose meaning depends on the file system.
constexpr std::array<std::string_view, 4> kUnfollowed = {"include_next", "import", "embed", "using"};
constexpr std::string_view kHasInclude = "__has_include";

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_probe(std::string_view word) {
  return word.starts_with(kHasInclude) || word == "__has_embed";
}

bool is_fragment(std::string_view word) {
  const auto begins = [&](std::string_view whole) { return whole.starts_with(word); };
  return begins(kHasInclude) || begins("__has_embed") || std::ranges::any_of(kTimes, begins);
}

// Returns whether text outside directives may contain a word that matters. May report words in comments and literals.
bool may_tell_time(std::string_view text) {
  for (std::size_t at = text.find('_'); at != std::string_view::npos; at = text.find('_', at + 1)) {
    if (at > 0 && continues_identifier(text[at - 1])) continue;
    std::size_t end = at + 1;
    while (end < text.size() && continues_identifier(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (is_fragment(word)) return true;
    at = end - 1;
  }
  return false;
}

std::optional<std::size_t> trigraph(std::string_view text) {
  for (std::size_t at = text.find("??"); at != std::string_view::npos; at = text.find("??", at + 1)) {
    if (at + 2 < text.size() && std::string_view("=/'()!<>-").find(text[at + 2]) != std::string_view::npos) return at;
  }
  return std::nullopt;
}

int line_at(std::string_view text, std::size_t at) {
  return static_cast<int>(std::ranges::count(text.substr(0, at), '\n')) + 1;
}

// Finds the lines that can be skipped as a whole: no directive, and nothing that continues on the next line.
class PlainLines {
 public:
  explicit PlainLines(std::string_view text)
      : continues_(text.find("/*") != std::string_view::npos || text.find("R\"") != std::string_view::npos) {}

  bool has(std::string_view line) const {
    const std::size_t first = line.find_first_not_of(" \t\r\v\f");
    if (first == std::string_view::npos) return true;
    if (line[first] == '#' || line[first] == '%') return false;
    if (line.back() == '\\' || line.ends_with("\\\r")) return false;
    return !continues_ || (line.find("/*") == std::string_view::npos && line.find("R\"") == std::string_view::npos);
  }

 private:
  const bool continues_;  // whether any line of the text begins a comment or a literal that may continue
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text), reader_(text), plain_(text) {}

  Scan run() && {
    refuse_characters();
    const bool all = may_tell_time(text_);
    while (reader_.at() < text_.size()) {
      if (all || !skip_plain_line()) logical_line();
    }
    if (reader_.refusal()) refuse(reader_.refusal()->line, reader_.refusal()->what);
    return std::move(scan_);
  }

 private:
  void refuse(int line, std::string what) {
    if (!scan_.refusal || scan_.refusal->line > line) scan_.refusal = Refusal{line, std::move(what)};
  }

  void refuse_characters() {
    if (const std::size_t nul = text_.find('\0'); nul != std::string_view::npos) {
      refuse(line_at(text_, nul), "a NUL byte, at which the compiler would stop reading");
    }
    if (const auto at = trigraph(text_)) {
      refuse(line_at(text_, *at),
             fmt::format("the trigraph {}; write the character that is meant", text_.substr(*at, 3)));
    }
  }

  bool skip_plain_line() {
    const std::size_t newline = text_.find('\n', reader_.at());
    const std::size_t end = newline == std::string_view::npos ? text_.size() : newline;
    if (!plain_.has(text_.substr(reader_.at(), end - reader_.at()))) return false;
    const bool last = end == text_.size();
    reader_.move_to(last ? end : end + 1, reader_.line() + (last ? 0 : 1));
    return true;
  }

  // Returns the next token that is neither blank nor comment.
  Token next() {
    while (true) {
      Token token = reader_.next();
      if (token.kind == Kind::blank || token.kind == Kind::comment) continue;
      if (token.kind == Kind::identifier) look_at(token);
      return token;
    }
  }

  void look_at(const Token& token) {
    if (token.text[0] != '_') return;
    if (is_one_of(token.text, kTimes)) {
      refuse(token.line, fmt::format("{}, by which the result would depend on when it is compiled", token.text));
    } else if (!scan_.fragment && is_fragment(token.text) && !is_probe(token.text)) {
      scan_.fragment =
          Refusal{token.line, fmt::format("the identifier {}, which ## could make __has_include, __DATE__ or "
                                          "__TIME__ of; use another name",
                                          token.text)};
    }
  }

  void logical_line() {
    Token token = next();
    const bool digraph = token.is(Kind::punctuator, "%:");
    if (digraph) refuse(token.line, "a directive that begins with the digraph %:; write #");
    if (digraph || token.is(Kind::punctuator, "#")) return directive(token);
    while (token.kind != Kind::newline && token.kind != Kind::end) token = next();
  }

  void directive(const Token& hash) {
    const Token word = next();
    Directive found{Directive::Kind::line, {}, hash.line, hash.begin, 0, 0};
    const std::size_t first = scan_.directives.size();
    bool kept = false;
    if (word.kind == Kind::identifier) kept = read(word, found);
    if (word.kind != Kind::newline && word.kind != Kind::end) rest_of_directive(word.text);
    if (kept) scan_.directives.insert(scan_.directives.begin() + static_cast<std::ptrdiff_t>(first), std::move(found));
    for (std::size_t i = first; i < scan_.directives.size(); ++i) {
      scan_.directives[i].end = reader_.at();
      scan_.directives[i].next_line = reader_.line();
    }
  }

  // Returns false for a directive that is not listed.
  bool read(const Token& word, Directive& found) {
    using Listed = Directive::Kind;
    if (word.text == "include") return include(found);
    if (is_one_of(word.text, kUnfollowed)) {
      refuse(word.line, fmt::format("#{}; what it would open is not part of the kernel's key", word.text));
    }
    if (word.text == "line") {
      found.argument = rest_of_line();
      return true;
    }
    if (word.text == "pragma") {
      const std::size_t at = reader_.at();
      const int line = reader_.line();
      found.kind = Listed::pragma_once;
      if (next().is(Kind::identifier, "once")) return true;
      reader_.move_to(at, line);
      return false;
    }
    found.kind = word.text == "endif" ? Listed::close : Listed::open;
    return word.text == "if" || word.text == "ifdef" || word.text == "ifndef" || word.text == "endif";
  }

  // Returns the text before the next newline without comments. The newline is not consumed.
  std::string rest_of_line() {
    std::string rest;
    while (true) {
      const std::size_t at = reader_.at();
      const int line = reader_.line();
      const Token token = reader_.next();
      if (token.kind == Kind::newline || token.kind == Kind::end) {
        reader_.move_to(at, line);
        return std::string(trimmed(rest));
      }
      if (token.kind != Kind::comment) rest += text_.substr(token.begin, token.end - token.begin);
    }
  }

  // Reads the name of a header after blanks and comments.
  std::optional<std::string> header_name(Directive::Kind& kind) {
    while (true) {
      const std::size_t at = reader_.at();
      const int line = reader_.line();
      const Token token = reader_.next();
      if (token.kind == Kind::blank || token.kind == Kind::comment) continue;
      reader_.move_to(at, line);
      if (token.kind == Kind::newline || token.kind == Kind::end) return std::nullopt;
      auto name = reader_.header_name();
      if (name && kind != Directive::Kind::has_include) {
        const bool angled = token.text.starts_with('<');
        kind = angled ? Directive::Kind::include_angled : Directive::Kind::include_quoted;
      }
      return name;
    }
  }

  bool include(Directive& found) {
    const auto name = header_name(found.kind);
    if (!name) {
      refuse(found.line, "an #include whose name is not written out; write \"NAME\" or <NAME>");
      return false;
    }
    return take(*name, found);
  }

  bool take(const std::string& name, Directive& found) {
    if (name.starts_with('/')) {
      refuse(found.line, fmt::format("the absolute name \"{}\" of a header; headers are found by their names below the "
                                     "template folders",
                                     name));
    }
    found.argument = name;
    return true;
  }

  void rest_of_directive(std::string_view word) {
    const bool condition = word == "if" || word == "elif";
    bool after_hash = false;
    for (Token token = next(); token.kind != Kind::newline && token.kind != Kind::end; token = next()) {
      const bool hash = token.is(Kind::punctuator, "#") || token.is(Kind::punctuator, "%:");
      scan_.pastes = scan_.pastes || (hash && after_hash);
      after_hash = hash;
      if (token.kind == Kind::identifier && is_probe(token.text)) probe(token, condition, word);
    }
  }

  // #ifdef __has_include and defined(__has_include) test whether the compiler has the operator.
  void probe(const Token& token, bool condition, std::string_view word) {
    if (word == "ifdef" || word == "ifndef") return;
    const std::size_t at = reader_.at();
    const int line = reader_.line();
    const bool called = next().is(Kind::punctuator, "(");
    Directive found{Directive::Kind::has_include, {}, token.line, token.begin, 0, 0};
    const auto name = condition && called && token.text == kHasInclude ? header_name(found.kind) : std::nullopt;
    if (name && take(*name, found)) {
      scan_.directives.push_back(std::move(found));
    } else if (condition && !called) {
      reader_.move_to(at, line);
    } else {
      refuse(token.line, fmt::format("{} whose name is not written out; write {}(\"NAME\") or {}(<NAME>) in an #if",
                                     token.text, kHasInclude, kHasInclude));
    }
  }

  std::string_view text_;
  TokenReader reader_;
  const PlainLines plain_;
  Scan scan_;
};

}  // namespace

Scan scan(std::string_view text) {
  return Scanner(text).run();
}

}  // namespace tma_jit::source
