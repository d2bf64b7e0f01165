#include "source/token_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace tma_jit::source {
namespace {

using Kind = Token::Kind;

constexpr std::size_t kRawDelimiterMax = 16;
constexpr std::array<std::string_view, 5> kRawPrefixes = {"R", "u8R", "uR", "UR", "LR"};
constexpr std::array<std::string_view, 5> kDigraphs = {"%:", "<%", "%>", "<:", ":>"};

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80) != 0;
}

constexpr std::array<bool, 256> kInIdentifier = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 256; ++c)
    table[static_cast<std::size_t>(c)] = is_letter(static_cast<char>(c)) || is_digit(static_cast<char>(c));
  return table;
}();

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

}  // namespace

bool continues_identifier(char c) {
  return kInIdentifier[static_cast<unsigned char>(c)];
}

char TokenReader::peek() {
  if (at_ < text_.size() && text_[at_] != '\\') [[likely]]
    return text_[at_];
  while (at_ < text_.size() && text_[at_] == '\\') {
    const std::size_t newline = at_ + 1 + (text_.substr(at_ + 1, 1) == "\r" ? 1 : 0);
    if (newline >= text_.size() || text_[newline] != '\n') break;
    at_ = newline + 1;
    ++line_;
  }
  return at_ < text_.size() ? text_[at_] : '\0';
}

// Returns the character after the next one, which is `first`.
char TokenReader::peek_after(char first) {
  const std::size_t at = at_;
  const int line = line_;
  char found = '\0';
  if (peek() == first) {
    step();
    found = peek();
  }
  at_ = at;
  line_ = line;
  return found;
}

void TokenReader::step() {
  if (at_ >= text_.size()) return;
  if (text_[at_] == '\n') ++line_;
  ++at_;
}

void TokenReader::refuse(int line, std::string what) {
  if (!refusal_) refusal_ = Refusal{line, std::move(what)};
}

void TokenReader::went_over_lines(int line, std::string_view what) {
  if (!ambiguous_ || line_ == line) return;
  refuse(line, fmt::format("an apostrophe or quotation mark that is not closed, or separates digits, precedes a {0} "
                           "that spans lines; close it, or begin the {0} on a new line",
                           what));
}

Kind TokenReader::block_comment(int line) {
  step();
  peek();
  step();
  bool closed = false;
  while (at_ < text_.size() && !closed) {
    closed = peek() == '*' && peek_after('*') == '/';
    step();
  }
  if (closed) {
    peek();
    step();
  } else {
    refuse(line, "a comment that is not closed");
  }
  went_over_lines(line, "comment");
  return Kind::comment;
}

void TokenReader::line_comment() {
  while (at_ < text_.size() && peek() != '\n') step();
}

// An unclosed quotation mark is a token of its own.
Kind TokenReader::literal() {
  const char quote = peek();
  step();
  const std::size_t after = at_;
  const int line = line_;
  while (at_ < text_.size()) {
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\\' && text_[at_] != '\n') ++at_;
    const char c = peek();
    if (at_ >= text_.size() || c == '\n') break;
    step();
    if (c == quote) return Kind::literal;
    if (c == '\\' && peek() != '\n') step();
  }
  at_ = after;
  line_ = line;
  ambiguous_ = true;
  return Kind::punctuator;
}

void TokenReader::raw_string(int line) {
  const std::size_t open = text_.substr(at_, kRawDelimiterMax + 2).find('(');
  std::size_t end = std::string_view::npos;
  if (open != std::string_view::npos) {
    const std::string close = std::string(")").append(text_.substr(at_ + 1, open - 1)).append("\"");
    const std::size_t found = text_.find(close, at_ + open);
    if (found != std::string_view::npos) end = found + close.size();
  }
  if (end == std::string_view::npos) {
    refuse(line, "a raw string literal that is not closed");
    end = text_.size();
  }
  line_ += static_cast<int>(std::ranges::count(text_.substr(at_, end - at_), '\n'));
  at_ = end;
  went_over_lines(line, "raw string literal");
}

void TokenReader::identifier(Token& token) {
  while (continues_identifier(peek())) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && continues_identifier(text_[at_])) ++at_;
    token.text.append(text_.substr(begin, at_ - begin));
  }
  if (peek() != '"' || std::ranges::find(kRawPrefixes, token.text) == kRawPrefixes.end()) return;
  token.kind = Kind::literal;
  raw_string(token.line);
}

void TokenReader::number() {
  char before = '\0';
  for (char c = peek();; c = peek()) {
    const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
    const bool separator = c == '\'' && continues_identifier(peek_after('\''));
    if (!continues_identifier(c) && c != '.' && !sign && !separator) return;
    ambiguous_ = ambiguous_ || separator;
    before = c;
    step();
  }
}

void TokenReader::punctuator(Token& token) {
  const char first = peek();
  token.text.push_back(first);
  const bool may_pair = first == '%' || first == '<' || first == ':';
  const char second = may_pair ? peek_after(first) : '\0';
  step();
  const std::array<char, 2> pair = {first, second};
  if (!may_pair || std::ranges::find(kDigraphs, std::string_view(pair.data(), 2)) == kDigraphs.end()) return;
  token.text.push_back(second);
  peek();
  step();
}

Token TokenReader::next() {
  Token token;
  const char c = peek();
  token.begin = at_;
  token.line = line_;
  const char second = c == '/' || c == '.' ? peek_after(c) : '\0';
  if (at_ >= text_.size()) {
    token.kind = Kind::end;
  } else if (c == '\n') {
    token.kind = Kind::newline;
    step();
    ambiguous_ = false;
  } else if (is_blank(c)) {
    token.kind = Kind::blank;
    while (at_ < text_.size() && is_blank(peek())) step();
  } else if (c == '/' && second == '*') {
    token.kind = block_comment(token.line);
  } else if (c == '/' && second == '/') {
    token.kind = Kind::comment;
    line_comment();
  } else if (is_letter(c)) {
    token.kind = Kind::identifier;
    identifier(token);
  } else if (is_digit(c) || (c == '.' && is_digit(second))) {
    token.kind = Kind::number;
    number();
  } else if (c == '"' || c == '\'') {
    token.kind = literal();
    if (token.kind == Kind::punctuator) token.text = c;
  } else {
    token.kind = Kind::punctuator;
    punctuator(token);
  }
  token.end = at_;
  return token;
}

std::optional<std::string> TokenReader::header_name() {
  const char open = peek();
  if (open != '"' && open != '<') return std::nullopt;
  const char close = open == '"' ? '"' : '>';
  step();
  std::string name;
  for (char c = peek(); at_ < text_.size() && c != '\n'; c = peek()) {
    step();
    if (c == close) return name;
    name.push_back(c);
  }
  return std::nullopt;
}

std::string blanked(std::string_view text) {
  std::string out(text);
  TokenReader reader(text);
  for (Token token = reader.next(); token.kind != Kind::end; token = reader.next()) {
    if (token.kind != Kind::comment && token.kind != Kind::literal) continue;
    for (std::size_t i = token.begin; i < token.end; ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
  }
  return out;
}

}  // namespace tma_jit::source
