#include "template/lexer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tma_jit::templates {
namespace {

enum class Class : std::uint8_t { other, letter, digit, symbol };

// The class of each character.
constexpr std::array<Class, 256> kClasses = [] {
  std::array<Class, 256> classes{};
  for (std::size_t c = 'a'; c <= 'z'; ++c) classes[c] = Class::letter;
  for (std::size_t c = 'A'; c <= 'Z'; ++c) classes[c] = Class::letter;
  for (std::size_t c = '0'; c <= '9'; ++c) classes[c] = Class::digit;
  for (const char c : std::string_view("?:|&^<>+-*/%!~()[]{},=.;"))
    classes[static_cast<unsigned char>(c)] = Class::symbol;
  classes['_'] = Class::letter;
  return classes;
}();

Class class_of(char c) {
  return kClasses[static_cast<unsigned char>(c)];
}
bool is_digit(char c) {
  return class_of(c) == Class::digit;
}
bool is_name_start(char c) {
  return class_of(c) == Class::letter;
}
bool is_name_part(char c) {
  return class_of(c) == Class::letter || class_of(c) == Class::digit;
}

// || && << >> .. and == != <= >=
bool is_two_character_symbol(char first, char second) {
  const bool comparison = first == '=' || first == '!' || first == '<' || first == '>';
  const bool doubled = first == '|' || first == '&' || first == '<' || first == '>' || first == '.';
  return second == '=' ? comparison : second == first && doubled;
}

}  // namespace

std::string described(const Token& token) {
  switch (token.kind) {
    case Token::Kind::end: return "the end of the line";
    case Token::Kind::text: return "a text";
    default: return fmt::format("\"{}\"", token.text);
  }
}

std::string unquoted(std::string_view text) {
  if (text.size() < 2) return {};
  if (text.find('\\') == std::string_view::npos) return std::string(text.substr(1, text.size() - 2));
  std::string content;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\' && (text[i + 1] == '"' || text[i + 1] == '\\') && i + 2 < text.size()) ++i;
    content.push_back(text[i]);
  }
  return content;
}

Lexer::Lexer(std::string_view line, int number, std::size_t column, int file)
    : line_(line), number_(number), file_(file), end_(std::min(column, line.size())), taken_end_(end_) {
  scan();
}

Token Lexer::take() {
  const Token token = token_;
  if (token.kind != Token::Kind::end) taken_end_ = end_;
  scan();
  return token;
}

void Lexer::jump(std::size_t column) {
  end_ = std::min(column, line_.size());
  taken_end_ = end_;
  scan();
}

void Lexer::set(Token::Kind kind, std::size_t end, std::string_view problem) {
  end_ = end;
  token_.kind = kind;
  token_.text = line_.substr(begin_, end_ - begin_);
  token_.problem = problem;
  token_.at = {number_, static_cast<int>(begin_) + 1, std::max(static_cast<int>(end_ - begin_), 1), file_};
}

void Lexer::scan() {
  begin_ = end_;
  while (begin_ < line_.size() && (line_[begin_] == ' ' || line_[begin_] == '\t')) ++begin_;
  if (begin_ == line_.size()) {
    // The end is reported directly after the last word, not after trailing blanks.
    begin_ = std::min(begin_, std::max(end_, taken_end_));
    set(Token::Kind::end, begin_);
    return;
  }
  const char first = line_[begin_];
  if (is_name_start(first)) {
    std::size_t end = begin_ + 1;
    while (end < line_.size() && is_name_part(line_[end])) ++end;
    return set(Token::Kind::name, end);
  }
  if (is_digit(first)) return set(Token::Kind::number, number_end());
  if (first == '"') {
    const std::size_t end = text_end();
    if (end == std::string_view::npos) return set(Token::Kind::invalid, line_.size(), "the text is not closed with \"");
    return set(Token::Kind::text, end);
  }
  const char second = begin_ + 1 < line_.size() ? line_[begin_ + 1] : ' ';
  if (is_two_character_symbol(first, second)) return set(Token::Kind::symbol, begin_ + 2);
  if (class_of(first) == Class::symbol) return set(Token::Kind::symbol, begin_ + 1);
  std::size_t end = begin_ + 1;  // extended to a whole UTF-8 sequence
  while (end < line_.size() && (static_cast<unsigned char>(line_[end]) & 0xC0U) == 0x80U) ++end;
  set(Token::Kind::invalid, end, "unexpected character");
}

// Returns the end of a number: digits, letters, ' and a fraction or signed exponent; the parser checks it. Stops before
// "..".
std::size_t Lexer::number_end() const {
  const char second = begin_ + 1 < line_.size() ? line_[begin_ + 1] : ' ';
  const bool hexadecimal = line_[begin_] == '0' && (second == 'x' || second == 'X');
  std::size_t end = begin_ + 1;
  for (; end < line_.size(); ++end) {
    const char c = line_[end];
    const char before = line_[end - 1];
    const bool follows_digit = end + 1 < line_.size() && is_digit(line_[end + 1]);
    const bool point = c == '.' && follows_digit;
    const bool sign = (c == '-' || c == '+') && (before == 'e' || before == 'E') && !hexadecimal && follows_digit;
    if (!is_name_part(c) && c != '\'' && !point && !sign) break;
  }
  return end;
}

std::size_t Lexer::text_end() const {
  for (std::size_t at = begin_ + 1; at < line_.size(); ++at) {
    if (line_[at] == '\\') {
      ++at;
    } else if (line_[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace tma_jit::templates
