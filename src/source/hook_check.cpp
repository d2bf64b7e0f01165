#include "source/hook_check.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "source/directives.h"

namespace tma_jit::emission {
namespace {

constexpr std::string_view kOpening = "([{";
constexpr std::string_view kClosing = ")]}";

bool is_character_start(char c) {
  return (c & 0xC0) != 0x80;
}

// The line with the fault, and a caret below it.
std::string excerpt(std::string_view text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  std::string caret;
  for (const char c : text.substr(begin, at - begin)) {
    if (is_character_start(c)) caret.push_back(c == '\t' ? '\t' : ' ');
  }
  return fmt::format("{}\n{}^", text.substr(begin, text.find('\n', begin) - begin), caret);
}

tl::unexpected<Error> fault(const Hook& hook, std::size_t at, std::string_view what) {
  const std::string_view before = std::string_view(hook.text).substr(0, at);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::string_view in_line = before.substr(before.rfind('\n') + 1);
  const auto column = std::ranges::count_if(in_line, is_character_start) + 1;
  return tl::make_unexpected(Error{ErrorCode::parse,
                                   fmt::format("hook {}:{}:{}: error: {}", hook.name, line, column, what),
                                   excerpt(hook.text, at)});
}

}  // namespace

Result<void> check_brackets(const Hook& hook) {
  const std::string code = blanked(hook.text);
  if (code.find('#') != std::string::npos) return {};
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (kOpening.find(code[i]) != std::string_view::npos) open.push_back(i);
    const std::size_t kind = kClosing.find(code[i]);
    if (kind == std::string_view::npos) continue;
    if (open.empty()) return fault(hook, i, fmt::format("\"{}\" closes nothing", code[i]));
    if (code[open.back()] != kOpening[kind]) {
      return fault(hook, i, fmt::format("\"{}\" does not close \"{}\"", code[i], code[open.back()]));
    }
    open.pop_back();
  }
  if (!open.empty()) return fault(hook, open.back(), fmt::format("\"{}\" is never closed", code[open.back()]));
  return {};
}

}  // namespace tma_jit::emission
