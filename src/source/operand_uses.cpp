#include "source/operand_uses.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/failure.h"
#include "source/hook_check.h"
#include "source/token_reader.h"

namespace tma_jit::source {
namespace {

using Kind = Token::Kind;

const Operand* operand_named(Operands operands, const Token& token) {
  if (token.kind != Kind::identifier) return nullptr;
  const auto found = std::ranges::find(operands, token.text, &Operand::name);
  return found != operands.end() ? &*found : nullptr;
}

// An occurrence of an operand's name, and the brackets after it.
struct Use {
  const Operand* operand = nullptr;
  std::size_t name = 0;   // offset of the name
  std::size_t open = 0;   // offset of the bracket after it; 0: none
  std::size_t close = 0;  // offset of the matching bracket
  std::size_t indices = 0;
};

// Finds the uses of operands whose indices are in brackets of one kind, "[]" or "()".
class Uses {
 public:
  Uses(std::string_view text, Operands operands, std::string_view brackets) : operands_(operands), brackets_(brackets) {
    TokenReader reader(text);
    for (Token token = reader.next(); token.kind != Kind::end; token = reader.next()) {
      if (token.kind == Kind::blank || token.kind == Kind::newline || token.kind == Kind::comment) continue;
      take(token);
      joined_ = token.kind == Kind::punctuator && token.begin == before_.end ? joined_ + token.text : token.text;
      before_ = token;
    }
  }

  std::vector<Use> take() && { return std::move(found_); }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void take(const Token& token) {
    // A member of another object that happens to have the name is not a use.
    const bool member = joined_.ends_with(".") || joined_.ends_with("->") || joined_.ends_with("::");
    if (const Operand* operand = operand_named(operands_, token); operand != nullptr && !member) {
      found_.push_back({operand, token.begin, 0, 0, 0});
      named_ = found_.size() - 1;
      return;
    }
    if (token.kind == Kind::punctuator && token.text.size() == 1) take_bracket(token);
    named_ = kNone;
  }

  void take_bracket(const Token& token) {
    const char c = token.text[0];
    if (c == '(' || c == '[' || c == '{') {
      const bool indices = named_ != kNone && c == brackets_[0];
      if (indices) found_[named_].open = token.begin;
      open_.push_back(indices ? named_ : kNone);
    } else if (c == ')' || c == ']' || c == '}') {
      if (open_.empty()) return;
      if (open_.back() != kNone) close(found_[open_.back()], token);
      open_.pop_back();
    } else if (c == ',' && !open_.empty() && open_.back() != kNone) {
      ++found_[open_.back()].indices;
    }
  }

  void close(Use& use, const Token& token) const {
    use.close = token.begin;
    if (before_.begin != use.open) ++use.indices;
  }

  Operands operands_;
  std::string_view brackets_;
  std::vector<Use> found_;
  std::vector<std::size_t> open_;  // for each open bracket, the use whose indices it contains
  std::size_t named_ = kNone;      // the use whose name is the previous token
  Token before_;
  std::string joined_;  // the previous token, with the punctuators directly before it
};

std::vector<Use> uses_in(std::string_view text, Operands operands, std::string_view brackets) {
  return Uses(text, operands, brackets).take();
}

std::string exchanged(std::string_view text, Operands operands, std::string_view from, std::string_view to) {
  std::string out(text);
  if (operands.empty()) return out;
  for (const Use& use : uses_in(text, operands, from)) {
    if (use.close == 0 || use.operand->rank == 0) continue;
    out[use.open] = to[0];
    out[use.close] = to[1];
  }
  return out;
}

bool has_parameter(const Hook& hook, std::string_view name) {
  return std::ranges::find(hook.parameters, name, &Hook::Parameter::name) != hook.parameters.end();
}

// Returns whether the text may change one of its names.
bool assigns(std::string_view text) {
  const std::string code = blanked(text);
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char before = i > 0 ? code[i - 1] : ' ', after = i + 1 < code.size() ? code[i + 1] : ' ';
    if ((code[i] == '+' || code[i] == '-') && after == code[i]) return true;
    if (code[i] != '=') continue;
    const bool comparison = after == '=' || before == '=' || before == '!' ||
                            ((before == '<' || before == '>') && (i < 2 || code[i - 2] != before));
    if (!comparison) return true;
  }
  return false;
}

// Returns the text from `begin` to `end` - 1 without comments and blanks.
std::string without_blanks(std::string_view text, std::size_t begin, std::size_t end) {
  std::string out;
  TokenReader reader(text.substr(begin, end - begin));
  for (Token token = reader.next(); token.kind != Kind::end; token = reader.next()) {
    if (token.kind == Kind::number) out += text.substr(begin + token.begin, token.end - token.begin);
    if (token.kind != Kind::blank && token.kind != Kind::newline && token.kind != Kind::comment) out += token.text;
  }
  return out;
}

std::string count_of(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

std::vector<Operand> operands_of(const Plan& plan) {
  std::vector<Operand> operands;
  for (const Argument& argument : plan.arguments) {
    if (!argument.hooks_offset.has_value()) continue;
    Operand operand{argument.name, argument.dtype, argument.shape.size()};
    if (operand.rank > 0) {
      const std::int64_t stride = argument.strides.back();
      operand.neighbours = stride == 1 || (argument.shape.back() <= 1 && stride != 0);
      operand.together = argument.address_alignment / size_of(argument.dtype);
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

Result<void> check_uses(const Hook& hook, Operands operands) {
  if (operands.empty()) return {};
  for (const Use& use : uses_in(hook.text, operands, "[]")) {
    const Operand& operand = *use.operand;
    if (operand.rank == 0 && use.close != 0) {
      return hook_fault(hook, use.open, fmt::format("{} is a scalar and has no elements", operand.name));
    }
    if (use.indices == operand.rank) continue;
    return hook_fault(hook, use.name,
                      fmt::format("{} has {} and is read with {}; an element is {}[{}]", operand.name,
                                  count_of(operand.rank, "dimension", "dimensions"),
                                  count_of(use.indices, "index", "indices"), operand.name,
                                  operand.rank == 1   ? "i"
                                  : operand.rank == 2 ? "i, j"
                                                      : "i, j, ..."));
  }
  return {};
}

bool is_body(const Hook& hook) {
  return blanked(hook.text).find(';') != std::string::npos;
}

std::vector<OwnOperand> own_operands_of(const Hook& hook, Operands operands) {
  std::vector<OwnOperand> own;
  if (!has_parameter(hook, "row") || !has_parameter(hook, "column") || is_body(hook) || assigns(hook.text)) return own;
  const std::vector<Use> uses = uses_in(hook.text, operands, "[]");
  for (const Operand& operand : operands) {
    std::optional<std::string> indices;
    const bool alike = std::ranges::all_of(uses, [&](const Use& use) {
      if (use.operand != &operand) return true;
      const std::string here = use.close == 0 ? "" : without_blanks(hook.text, use.open + 1, use.close);
      return std::exchange(indices, here).value_or(here) == here;
    });
    if (!alike || !indices.has_value() || own.size() == kOwnMost) continue;
    const bool row = *indices == "row" || *indices == "row,column";
    const bool column = *indices == "column" || *indices == "row,column";
    const bool first = operand.rank == 1 && *indices == "0";  // such as a scale of a whole tensor
    if (row || column || first) own.push_back({operand, row, column});
  }
  return own;
}

std::string without_indices(std::string_view text, std::span<const OwnOperand> own) {
  std::string out(text);
  std::vector<Operand> operands;
  for (const OwnOperand& one : own) operands.push_back(one.operand);
  for (const Use& use : uses_in(text, operands, "[]")) {
    for (std::size_t i = use.open; i <= use.close; ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
  }
  return out;
}

std::string with_parentheses(std::string_view text, Operands operands) {
  return exchanged(text, operands, "[]", "()");
}

std::string with_brackets(std::string_view text, Operands operands) {
  return exchanged(text, operands, "()", "[]");
}

}  // namespace tma_jit::source
