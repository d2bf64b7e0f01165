#include "plan/operands.h"

#include <algorithm>

namespace tma_jit::plan {
namespace {

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool continues_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9');
}

// Splits a text into words: names, numbers, single characters. Skips comments and quoted text.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  // Returns an empty word at the end.
  std::string_view next() {
    while (skip_blank() || skip_comment() || skip_quoted()) {
    }
    if (text_.empty()) return {};
    std::size_t length = 1;
    if (continues_name(text_.front())) {
      length = static_cast<std::size_t>(std::find_if_not(text_.begin(), text_.end(), continues_name) - text_.begin());
    } else if (text_.starts_with("->") || text_.starts_with("::")) {
      length = 2;
    }
    const std::string_view word = text_.substr(0, length);
    text_.remove_prefix(length);
    return word;
  }

 private:
  bool skip_blank() {
    if (text_.empty() || std::string_view(" \t\r\n").find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool skip_comment() {
    if (text_.starts_with("//")) return skip_past("\n", 2);
    return text_.starts_with("/*") && skip_past("*/", 2);
  }

  bool skip_quoted() {
    if (text_.empty() || (text_.front() != '"' && text_.front() != '\'')) return false;
    std::size_t end = 1;
    while (end < text_.size() && text_[end] != text_.front()) end += text_[end] == '\\' ? 2 : 1;
    text_.remove_prefix(std::min(end + 1, text_.size()));
    return true;
  }

  bool skip_past(std::string_view end, std::size_t from) {
    const std::size_t at = text_.find(end, from);
    text_.remove_prefix(at == std::string_view::npos ? text_.size() : at + end.size());
    return true;
  }

  std::string_view text_;
};

// A name before another name is a type, so that the latter is a declaration, unless it is one of these keywords.
bool is_type(std::string_view before) {
  return !before.empty() && starts_name(before.front()) && before != "return" && before != "case" && before != "else" &&
         before != "sizeof";
}

}  // namespace

bool names_operand(std::string_view text, std::string_view name) {
  Words words(text);
  std::string_view before;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    const bool member = before == "." || before == "->" || before == "::";
    if (word == name) {
      if (!member) return !is_type(before);
    }
    before = word;
  }
  return false;
}

}  // namespace tma_jit::plan
