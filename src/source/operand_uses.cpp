#include "source/operand_uses.h"

#include <algorithm>
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

std::string count_of(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

std::vector<Operand> operands_of(const Plan& plan) {
  std::vector<Operand> operands;
  for (const Argument& argument : plan.arguments) {
    if (!argument.hooks_offset.has_value()) continue;
    Operand operand{argument.name, argument.dtype, argument.shape.size(), false};
    if (operand.rank > 0) {
      const std::int64_t stride = argument.strides.back();
      operand.neighbours = stride == 1 || (argument.shape.back() <= 1 && stride != 0);
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

std::string with_parentheses(std::string_view text, Operands operands) {
  return exchanged(text, operands, "[]", "()");
}

std::string with_brackets(std::string_view text, Operands operands) {
  return exchanged(text, operands, "()", "[]");
}

}  // namespace tma_jit::source
