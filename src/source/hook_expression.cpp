#include "source/hook_expression.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "core/failure.h"
#include "source/hook_check.h"
#include "source/token_reader.h"

namespace tma_jit::source {
namespace {

using Kind = Token::Kind;

constexpr int kDepthMax = 64;

// In descending length, so that the longest match is taken, as in the compiler. Includes operators that are not
// allowed, because otherwise `a--b` would be read as two minus signs.
constexpr std::array<std::string_view, 36> kOperators = {
    "<<=", ">>=", "<=>", "->*", "...", "::", "->", ".*", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "+=",  "-=",  "*=",  "/=",  "%=",  "&=", "|=", "^=", "+",  "-",  "*",  "/",  "%",  "<",  ">",  "&",  "|",  "^"};
constexpr std::array<std::string_view, 18> kBinary = {"||", "&&", "|",  "^",  "&", "==", "!=", "<", ">",
                                                      "<=", ">=", "<<", ">>", "+", "-",  "*",  "/", "%"};
constexpr std::array<std::string_view, 4> kUnary = {"+", "-", "!", "~"};
// Each also exists for float with the suffix f.
constexpr std::array<std::string_view, 50> kFunctions = {
    "abs",       "acos",  "acosh", "asin",  "asinh", "atan",  "atan2",     "atanh",   "cbrt",  "ceil",
    "cos",       "cosh",  "erf",   "erfc",  "exp",   "exp10", "exp2",      "expm1",   "fabs",  "fdim",
    "floor",     "fma",   "fmax",  "fmin",  "fmod",  "hypot", "isfinite",  "isinf",   "isnan", "ldexp",
    "log",       "log10", "log1p", "log2",  "max",   "min",   "nearbyint", "normcdf", "pow",   "rcbrt",
    "remainder", "rint",  "round", "rsqrt", "sin",   "sinh",  "sqrt",      "tan",     "tanh",  "trunc"};
constexpr std::array<std::string_view, 9> kFastFunctions = {"__expf", "__logf", "__log2f",    "__log10f", "__sinf",
                                                            "__cosf", "__powf", "__fdividef", "copysignf"};
constexpr std::array<std::string_view, 7> kTypes = {"float", "double", "int", "unsigned", "bool", "long", "short"};

struct Lexeme {
  Kind kind = Kind::end;
  std::string_view text;
  std::size_t at = 0;
};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_type(std::string_view word) {
  return is_one_of(word, kTypes) || dtype_named(word).has_value();
}

bool is_function(std::string_view word) {
  if (is_one_of(word, kFastFunctions) || is_one_of(word, kFunctions)) return true;
  if (is_one_of(word, kActivations) || is_one_of(word, kMasks)) return true;
  return word.ends_with('f') && is_one_of(word.substr(0, word.size() - 1), kFunctions);
}

// Splits the hook's text into tokens without blanks and comments.
std::vector<Lexeme> lexemes_of(std::string_view text) {
  std::vector<Lexeme> found;
  TokenReader reader(text);
  for (Token token = reader.next(); token.kind != Kind::end; token = reader.next()) {
    if (token.kind == Kind::blank || token.kind == Kind::comment || token.kind == Kind::newline) continue;
    std::string_view spelling = text.substr(token.begin, token.end - token.begin);
    if (token.kind == Kind::punctuator) {
      const auto longest = std::ranges::find_if(
          kOperators, [&](std::string_view word) { return text.substr(token.begin).starts_with(word); });
      if (longest != kOperators.end() && longest->size() > spelling.size()) {
        spelling = text.substr(token.begin, longest->size());
        reader.move_to(token.begin + longest->size(), token.line);
      }
    }
    found.push_back({token.kind, spelling, token.begin});
  }
  found.push_back({Kind::end, {}, text.size()});
  return found;
}

class Parser {
 public:
  Parser(const Hook& hook, Operands operands) : hook_(hook), operands_(operands), lexemes_(lexemes_of(hook.text)) {}

  Result<void> run() {
    TMA_JIT_CHECK(conditional(0));
    if (peek().kind != Kind::end) return refused("is no part of an expression");
    return {};
  }

 private:
  const Lexeme& peek(std::size_t ahead = 0) const { return lexemes_[std::min(next_ + ahead, lexemes_.size() - 1)]; }
  bool sees(std::string_view text) const { return peek().text == text; }
  bool take(std::string_view text) {
    const bool found = sees(text);
    next_ += found ? 1 : 0;
    return found;
  }

  Result<void> expect(std::string_view text) {
    if (take(text)) return {};
    return refused(fmt::format("is found where \"{}\" is expected", text));
  }

  tl::unexpected<Error> refused(std::string_view what) const {
    const Lexeme& here = peek();
    const std::string name = here.kind == Kind::end ? "the end" : fmt::format("\"{}\"", here.text);
    auto error = hook_fault(hook_, here.at, fmt::format("{} {}", name, what));
    std::vector<std::string> parameters;
    for (const Hook::Parameter& parameter : hook_.parameters) parameters.push_back(parameter.name);
    for (const Operand& operand : operands_) parameters.push_back(operand.name);
    error.value().detail += fmt::format(
        "\nan untrusted hook is one expression of {}, numbers, operators, conversions to number types and CUDA's math "
        "functions",
        joined(parameters));
    return error;
  }

  Result<void> conditional(int depth) {
    TMA_JIT_CHECK(binary(depth));
    if (!take("?")) return {};
    TMA_JIT_CHECK(conditional(depth + 1));
    TMA_JIT_CHECK(expect(":"));
    return conditional(depth + 1);
  }

  Result<void> binary(int depth) {
    TMA_JIT_CHECK(unary(depth));
    while (is_one_of(peek().text, kBinary)) {
      ++next_;
      TMA_JIT_CHECK(unary(depth));
    }
    return {};
  }

  Result<void> unary(int depth) {
    if (depth >= kDepthMax) return refused(fmt::format("is nested more than {} deep", kDepthMax));
    if (is_one_of(peek().text, kUnary)) {
      ++next_;
      return unary(depth + 1);
    }
    if (take("(")) {
      const bool conversion = is_type(peek().text) && peek(1).text == ")";
      if (conversion) {
        next_ += 2;
        return unary(depth + 1);
      }
      TMA_JIT_CHECK(conditional(depth + 1));
      return expect(")");
    }
    return primary(depth);
  }

  Result<void> primary(int depth) {
    const Lexeme& here = peek();
    const bool parameter =
        std::ranges::any_of(hook_.parameters, [&](const Hook::Parameter& p) { return p.name == here.text; });
    if (here.kind == Kind::number || parameter || here.text == "true" || here.text == "false") {
      ++next_;
      return {};
    }
    const auto operand = std::ranges::find(operands_, here.text, &Operand::name);
    if (here.kind == Kind::identifier && operand != operands_.end()) {
      ++next_;
      return operand->rank == 0 ? Result<void>() : list("[", "]", depth);
    }
    if (here.kind != Kind::identifier) return refused("is no operand");
    if (!is_type(here.text) && !is_function(here.text)) {
      return refused("is neither an argument of the hook nor a function that it may call");
    }
    ++next_;
    return list("(", ")", depth);
  }

  Result<void> list(std::string_view open, std::string_view close, int depth) {
    TMA_JIT_CHECK(expect(open));
    do TMA_JIT_CHECK(conditional(depth + 1));
    while (take(","));
    return expect(close);
  }

  const Hook& hook_;
  Operands operands_;
  const std::vector<Lexeme> lexemes_;
  std::size_t next_ = 0;
};

}  // namespace

Result<void> check_expression(const Hook& hook, Operands operands) {
  return Parser(hook, operands).run();
}

}  // namespace tma_jit::source
