#include "source/directives.h"

#include <optional>
#include <utility>

#include "base/text.h"

namespace tma_jit::emission {
namespace {

// Copies text without comments, a piece at a time; a comment may run on from one piece to the next.
class CommentFilter {
 public:
  std::string apply(std::string_view text) {
    std::string kept;
    while (!text.empty()) text.remove_prefix(step(text, kept));
    return kept;
  }

 private:
  // Consumes one token's worth of text and returns its length.
  std::size_t step(std::string_view text, std::string& kept) {
    if (inside_) return skip_to_close(text, kept);
    if (text.substr(0, 2) == "//") return std::min(text.find('\n'), text.size());
    if (text.substr(0, 2) == "/*") {
      inside_ = true;
      return 2;
    }
    const std::size_t length = text[0] == '"' || text[0] == '\'' ? literal_length(text) : 1;
    kept.append(text.substr(0, length));
    return length;
  }

  std::size_t skip_to_close(std::string_view text, std::string& kept) {
    const std::size_t close = text.find("*/");
    if (close == std::string_view::npos) return text.size();
    inside_ = false;
    kept.push_back(' ');
    return close + 2;
  }

  static std::size_t literal_length(std::string_view text) {
    for (std::size_t i = 1; i < text.size() && text[i] != '\n'; ++i) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == text[0]) {
        return i + 1;
      }
    }
    return 1;
  }

  bool inside_ = false;
};

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

}  // namespace

std::vector<Directive> directives_of(std::string_view text) {
  std::vector<Directive> found;
  CommentFilter comments;
  std::size_t begin = 0;
  for (int line = 1; begin < text.size(); ++line) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == std::string_view::npos ? text.size() : newline + 1;
    if (auto directive = parse(comments.apply(text.substr(begin, end - begin)))) {
      directive->line = line;
      directive->begin = begin;
      directive->end = end;
      found.push_back(std::move(*directive));
    }
    begin = end;
  }
  return found;
}

std::string without_comments(std::string_view text) {
  return CommentFilter().apply(text);
}

}  // namespace tma_jit::emission
