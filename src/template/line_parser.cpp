#include "template/line_parser.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "core/failure.h"
#include "template/expression_parser.h"
#include "template/names.h"

namespace tma_jit::templates {
namespace {

// Returns the start of the doc text at the end of `text`; npos if there is none.
std::size_t doc_begin(std::string_view text) {
  const std::string_view kept = text.substr(0, text.find_last_not_of(" \t") + 1);
  if (kept.size() < 2 || kept.back() != '"') return std::string_view::npos;
  for (std::size_t at = kept.size() - 1; at-- > 0;) {
    if (kept[at] == '"' && (at == 0 || kept[at - 1] != '\\')) return at;
  }
  return std::string_view::npos;
}

// Trims, and reduces runs of blanks, which align columns across lines, to one.
std::string single_spaced(std::string_view text) {
  std::string spaced(trimmed(text));
  std::ranges::replace(spaced, '\t', ' ');
  const auto both_blank = [](char a, char b) { return a == ' ' && b == ' '; };
  spaced.erase(std::unique(spaced.begin(), spaced.end(), both_blank), spaced.end());
  return spaced;
}

}  // namespace

tl::unexpected<Error> LineParser::error(const Position& at, std::string_view message) const {
  return tl::make_unexpected(error_at(*source_, at, message));
}

tl::unexpected<Error> LineParser::unexpected(std::string_view wanted) const {
  std::string message = unexpected_message(peek(), wanted);
  if (peek().is("=") && wanted.starts_with("an operator")) message += "; \"==\" compares";
  return error(peek().at, message);
}

bool LineParser::accept(std::string_view symbol) {
  if (!peek().is(symbol)) return false;
  take();
  return true;
}

bool LineParser::accept_word(std::string_view word) {
  if (!peek().is_word(word)) return false;
  take();
  return true;
}

Result<void> LineParser::expect(std::string_view symbol, std::string_view where, std::string_view named) {
  if (accept(symbol)) return {};
  return error(peek().at, unexpected_message(peek(), place_words(symbol, where, named)));
}

Result<Token> LineParser::name(std::string_view wanted) {
  if (peek().kind != Token::Kind::name) return error(peek().at, unexpected_message(peek(), wanted));
  return take();
}

Result<Expression> LineParser::expression(std::string_view wanted) {
  return ExpressionParser(source_, lexer_).parse(wanted);
}

Result<std::vector<Expression>> LineParser::expressions(std::string_view wanted, std::size_t most) {
  std::vector<Expression> list;
  do {
    if (list.size() == most) return error(peek().at, fmt::format("more than {} values for {}", most, wanted));
    TMA_JIT_ASSIGN(Expression value, expression(wanted));
    list.push_back(std::move(value));
  } while (accept(","));
  return list;
}

Result<std::vector<Expression>> LineParser::bracketed(std::string_view wanted) {
  TMA_JIT_CHECK(expect("[", "before", wanted));
  TMA_JIT_ASSIGN(std::vector<Expression> list, expressions(wanted, kMaxRank));
  TMA_JIT_CHECK(expect("]", "after", wanted));
  return list;
}

// Returns the value of a decimal number that is a whole expression, which most constants are, and takes it.
std::optional<std::int64_t> LineParser::plain_number() {
  const std::string_view text = peek().text;
  if (peek().kind != Token::Kind::number || (text.front() == '0' && text.size() > 1)) return std::nullopt;
  std::int64_t value = 0;
  const auto [stopped, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || stopped != text.data() + text.size()) return std::nullopt;
  const Lexer before = mark();
  take();
  const bool ends = at_end() || peek().kind != Token::Kind::symbol || peek().is(",") || peek().is("}");
  if (ends) return value;
  back_to(before);
  return std::nullopt;
}

Result<std::int64_t> LineParser::constant(std::string_view wanted, std::string_view whose) {
  if (const auto plain = plain_number()) return *plain;
  TMA_JIT_ASSIGN(const Expression value, expression(wanted));
  if (!value.references().empty()) {
    const Reference& reference = value.references().front();
    return error(reference.at, fmt::format("{} must be numbers, and {} is not one", whose, reference.text()));
  }
  struct Nothing final : Scope {
    Result<std::int64_t> value(const Reference&) const override { return 0; }
  };
  return value.evaluate(Nothing());
}

Result<TypeName> LineParser::type_name(std::string_view wanted) {
  TMA_JIT_ASSIGN(const Token token, name(wanted));
  return TypeName{std::string(token.text), dtype_named(token.text), token.at};
}

Result<DType> LineParser::dtype(std::string_view wanted) {
  TMA_JIT_ASSIGN(const TypeName type, type_name(wanted));
  if (type.concrete) return *type.concrete;
  return unknown_name(error(type.at, fmt::format("unknown element type {}", type.name)), type.name, dtype_names());
}

std::string LineParser::raw_text() {
  const std::string_view rest = lexer_.rest();
  const std::size_t end = std::min(doc_begin(rest), rest.size());
  const std::string_view text = trimmed(rest.substr(0, end));
  lexer_.jump(lexer_.begin() + end);
  return std::string(text);
}

Result<void> LineParser::finish(Declaration& declaration, std::string_view wanted) {
  const std::size_t end = std::max(lexer_.taken_end(), declaration_begin_);
  declaration.text = single_spaced(lexer_.line().substr(declaration_begin_, end - declaration_begin_));
  if (peek().kind == Token::Kind::text) {
    declaration.doc = unquoted(take().text);
    wanted = "the end of the line";
  }
  if (!at_end()) return unexpected(wanted);
  return {};
}

}  // namespace tma_jit::templates
