#include "template/source_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace tma_jit::templates {
namespace {

constexpr std::size_t kShownBytes = 400;  // of a line, at most

bool continues_sequence(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Returns blanks as wide as `text`: tabs stay tabs, and a UTF-8 sequence is one column.
std::string padding(std::string_view text) {
  std::string blank;
  for (const char c : text) {
    if (continues_sequence(c)) continue;
    blank.push_back(c == '\t' ? '\t' : ' ');
  }
  return blank;
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_sequence(c); }));
}

// Returns the line with what begins at `begin` marked below it; of a long line only what is near.
std::string excerpt(std::string_view line, std::size_t begin, std::size_t length) {
  std::size_t from = line.size() > kShownBytes && begin > kShownBytes / 2 ? begin - kShownBytes / 2 : 0;
  while (from < begin && continues_sequence(line[from])) ++from;
  std::size_t to = std::min(line.size(), from + kShownBytes);
  while (to < line.size() && continues_sequence(line[to])) ++to;
  const std::string_view cut = from > 0 ? "..." : "";
  const std::size_t marked = columns(line.substr(begin, std::min(length, to - begin)));
  return fmt::format("{}{}{}\n{}{}^{}", cut, line.substr(from, to - from), to < line.size() ? "..." : "", padding(cut),
                     padding(line.substr(from, begin - from)), std::string(marked > 0 ? marked - 1 : 0, '~'));
}

}  // namespace

std::string_view line_of(const SourceText& source, int line) {
  std::string_view rest = source.text;
  for (int at = 1; at < line; ++at) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

Error error_at(const SourceText& source, const Position& at, std::string_view message) {
  const std::string_view line = line_of(source, at.line);
  const std::size_t begin = std::min(static_cast<std::size_t>(std::max(at.column, 1)) - 1, line.size());
  Error error;
  error.code = ErrorCode::parse;
  error.message = fmt::format("{}:{}:{}: {}", source.file, at.line, at.column, message);
  error.detail = excerpt(line, begin, static_cast<std::size_t>(std::max(at.length, 1)));
  return error;
}

}  // namespace tma_jit::templates
