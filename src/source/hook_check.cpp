#include "source/hook_check.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/failure.h"
#include "source/hook_expression.h"
#include "source/preprocessor_lines.h"
#include "source/token_reader.h"

namespace tma_jit::source {
namespace {

using Kind = Token::Kind;

constexpr std::string_view kOpening = "([{";
constexpr std::string_view kClosing = ")]}";

bool is_character_start(char c) {
  return (c & 0xC0) != 0x80;
}

// Returns the line with the fault, and a caret below it.
std::string excerpt(std::string_view text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  std::string caret;
  for (const char c : text.substr(begin, at - begin)) {
    if (is_character_start(c)) caret.push_back(c == '\t' ? '\t' : ' ');
  }
  return fmt::format("{}\n{}^", text.substr(begin, text.find('\n', begin) - begin), caret);
}

std::size_t start_of_line(std::string_view text, int line) {
  std::size_t at = 0;
  for (int i = 1; i < line; ++i) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return at;
}

// Follows the brackets of a hook's code token by token.
class Brackets {
 public:
  explicit Brackets(const Hook& hook) : hook_(hook) {}

  Result<void> take(const Token& token, bool before_colon) {
    const bool digraph = token.kind == Kind::punctuator && token.text.size() == 2;
    // `<::` is not a digraph but `<` and `::`.
    if (digraph && !(token.text == "<:" && before_colon)) {
      return hook_fault(hook_, token.begin,
                        fmt::format("the digraph {}; write the bracket or # that it stands for", token.text));
    }
    if (token.kind != Kind::punctuator || digraph) return {};
    if (kOpening.find(token.text) != std::string_view::npos) open_.push_back(token);
    const std::size_t kind = kClosing.find(token.text);
    if (kind == std::string_view::npos) return {};
    if (open_.empty()) return hook_fault(hook_, token.begin, fmt::format("\"{}\" closes nothing", token.text));
    if (open_.back().text[0] != kOpening[kind]) {
      return hook_fault(hook_, token.begin, fmt::format("\"{}\" does not close \"{}\"", token.text, open_.back().text));
    }
    open_.pop_back();
    return {};
  }

  Result<void> end() const {
    if (open_.empty()) return {};
    return hook_fault(hook_, open_.back().begin, fmt::format("\"{}\" is never closed", open_.back().text));
  }

 private:
  const Hook& hook_;
  std::vector<Token> open_;
};

// A line continuation, comment or literal at the end would continue into the text after the hook.
Result<void> check_end(const Hook& hook) {
  const std::string_view text = hook.text;
  const bool carriage = text.ends_with("\\\r");
  if (!carriage && !text.ends_with('\\')) return {};
  return hook_fault(hook, text.size() - (carriage ? 2 : 1),
                    "a backslash at the end, which joins the line after the hook");
}

// Allows `#` at the start of a line only in "#pragma unroll" and similar.
Result<void> check_directive(const Hook& hook, const Token& hash, TokenReader& reader) {
  Token word = reader.next();
  while (word.kind == Kind::blank) word = reader.next();
  if (word.text != "pragma") {
    return hook_fault(hook, hash.begin,
                      fmt::format("#{}; of preprocessor lines a hook may hold #pragma unroll", word.text));
  }
  do word = reader.next();
  while (word.kind == Kind::blank);
  if (word.text == "unroll" || word.text == "nounroll") return {};
  return hook_fault(hook, hash.begin,
                    fmt::format("#pragma {}; of preprocessor lines a hook may hold #pragma unroll", word.text));
}

Result<void> check_tokens(const Hook& hook) {
  Brackets brackets(hook);
  TokenReader reader(hook.text);
  bool line_begins = true;
  for (Token token = reader.next(); token.kind != Kind::end; token = reader.next()) {
    if (line_begins && token.text == "#") TMA_JIT_CHECK(check_directive(hook, token, reader));
    TMA_JIT_CHECK(brackets.take(token, hook.text.compare(token.end, 1, ":") == 0));
    line_begins =
        token.kind == Kind::newline || (line_begins && (token.kind == Kind::blank || token.kind == Kind::comment));
  }
  if (reader.refusal()) {
    return hook_fault(hook, start_of_line(hook.text, reader.refusal()->line), reader.refusal()->what);
  }
  return brackets.end();
}

}  // namespace

tl::unexpected<Error> hook_fault(const Hook& hook, std::size_t at, std::string_view what) {
  const std::string_view before = std::string_view(hook.text).substr(0, at);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::string_view in_line = before.substr(before.rfind('\n') + 1);
  const auto column = std::ranges::count_if(in_line, is_character_start) + 1;
  return tl::make_unexpected(Error{ErrorCode::parse,
                                   fmt::format("hook {}:{}:{}: error: {}", hook.name, line, column, what),
                                   excerpt(hook.text, at)});
}

Result<void> check_hook(const Hook& hook, Operands operands) {
  if (const auto refusal = scan(hook.text).refusal) {
    return hook_fault(hook, start_of_line(hook.text, refusal->line), refusal->what);
  }
  TMA_JIT_CHECK(check_end(hook));
  TMA_JIT_CHECK(check_tokens(hook));
  TMA_JIT_CHECK(check_uses(hook, operands));
  if (hook.untrusted) TMA_JIT_CHECK(check_expression(hook, operands));
  return {};
}

}  // namespace tma_jit::source
