#include "emulator/ptx/lexer.h"

#include <cctype>
#include <charconv>
#include <cstring>
#include <string>

#include "emulator/fault.h"

namespace tma_jit::emulator::ptx {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool begins_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}
bool continues_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.';
}
bool is_hex(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

constexpr std::string_view kPunctuation = ",;{}[]()@!|+-=<>:*/~";

}  // namespace

Token Lexer::next() {
  const Token token = current_;
  advance();
  return token;
}

void Lexer::skip_line() {
  if (current_.kind == Token::Kind::end) return;
  // The current token may be on a later line already.
  while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  advance();
}

void Lexer::skip_comment() {
  if (text_[at_ + 1] == '/') {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    return;
  }
  const std::size_t end = text_.find("*/", at_ + 2);
  if (end == std::string_view::npos) throw_fault(FaultKind::syntax, "PTX line {}: the comment does not end", line_);
  for (; at_ < end + 2; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
}

void Lexer::skip_blank() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') ++line_;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (c == '/' && at_ + 1 < text_.size() && (text_[at_ + 1] == '/' || text_[at_ + 1] == '*')) {
      skip_comment();
    } else {
      return;
    }
  }
}

void Lexer::take(Token::Kind kind, std::size_t length) {
  current_.kind = kind;
  current_.text = text_.substr(at_, length);
  at_ += length;
}

void Lexer::advance() {
  skip_blank();
  current_ = Token{};
  current_.line = line_;
  if (at_ >= text_.size()) return;
  const char c = text_[at_];
  if (is_digit(c)) return read_number();
  if (c == '"') return read_string();
  if (begins_word(c)) return read_word();
  if (kPunctuation.find(c) != std::string_view::npos) return take(Token::Kind::punctuation, 1);
  throw_fault(FaultKind::syntax, "PTX line {}: no token begins with character {:#04x}", line_,
              static_cast<unsigned char>(c));
}

void Lexer::read_word() {
  const bool directive = text_[at_] == '.';
  std::size_t end = at_ + 1;
  while (end < text_.size()) {
    if (directive && text_[end] == '.') break;
    if (continues_word(text_[end])) {
      ++end;
    } else if (text_.substr(end, 2) == "::" && end + 2 < text_.size() && continues_word(text_[end + 2])) {
      end += 2;
    } else {
      break;
    }
  }
  take(Token::Kind::word, end - at_);
}

void Lexer::read_string() {
  const std::size_t end = text_.find('"', at_ + 1);
  if (end == std::string_view::npos) throw_fault(FaultKind::syntax, "PTX line {}: the string does not end", line_);
  const std::size_t length = end - at_ - 1;
  ++at_;
  take(Token::Kind::string, length);
  ++at_;
}

// 0f with eight hexadecimal digits, or 0d with sixteen.
void Lexer::read_float_bits(std::size_t digits) {
  const std::string_view hex = text_.substr(at_ + 2, digits);
  u64 bits = 0;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
  if (error != std::errc{} || hex.size() != digits || end != hex.data() + digits) {
    throw_fault(FaultKind::syntax, "PTX line {}: a float constant has {} hexadecimal digits", line_, digits);
  }
  take(Token::Kind::real, 2 + digits);
  current_.bits = bits;
  current_.single = digits == 8;
}

void Lexer::read_number() {
  const char kind = at_ + 1 < text_.size() && text_[at_] == '0' ? text_[at_ + 1] : ' ';
  if (kind == 'f' || kind == 'F') return read_float_bits(8);
  if (kind == 'd' || kind == 'D') return read_float_bits(16);
  const bool hexadecimal = kind == 'x' || kind == 'X';
  std::size_t end = at_ + (hexadecimal ? 2 : 0);
  const std::size_t first = end;
  while (end < text_.size() && (hexadecimal ? is_hex(text_[end]) : is_digit(text_[end]))) ++end;
  if (!hexadecimal && end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) {
    while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.' || text_[end] == 'e')) ++end;
    const double value = std::strtod(std::string(text_.substr(at_, end - at_)).c_str(), nullptr);
    take(Token::Kind::real, end - at_);
    std::memcpy(&current_.bits, &value, sizeof value);
    return;
  }
  u64 value = 0;
  const auto [stopped, error] = std::from_chars(text_.data() + first, text_.data() + end, value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || stopped != text_.data() + end) {
    throw_fault(FaultKind::syntax, "PTX line {}: \"{}\" is not a 64-bit integer", line_, text_.substr(at_, end - at_));
  }
  if (end < text_.size() && text_[end] == 'U') ++end;
  take(Token::Kind::integer, end - at_);
  current_.bits = value;
}

}  // namespace tma_jit::emulator::ptx
