// The directives that declare kernel parameters and functions: tensor, scalar, workspace, hook.
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "core/failure.h"
#include "core/scalar_image.h"
#include "template/directives.h"

namespace tma_jit::templates {
namespace {

Result<void> parse_fill(LineParser& line, Tensor& tensor) {
  const Position at = line.peek().at;
  TMA_JIT_ASSIGN(const Token fill, line.name("zero or nan"));
  if (fill.text != "zero" && fill.text != "nan")
    return line.error(at, fmt::format("fill is zero or nan, not {}", fill.text));
  tensor.fill = fill.text == "nan" ? Fill::nan : Fill::zero;
  return {};
}

template <class Target> Result<void> store(Result<Target> parsed, std::optional<Target>& target) {
  if (!parsed) return tl::make_unexpected(std::move(parsed).error());
  target = std::move(*parsed);
  return {};
}

Result<void> parse_as(LineParser& line, Tensor& tensor) {
  const Position at = line.peek().at;
  TMA_JIT_ASSIGN(const Token type, line.name("what TMA takes the elements for"));
  tensor.as = map_type_named(type.text);
  if (tensor.as) return {};
  std::vector<std::string> known;
  for (int i = 0; i <= static_cast<int>(MapType::b6x16_p32); ++i) known.emplace_back(name_of(static_cast<MapType>(i)));
  return line.error(at, fmt::format("TMA knows no type {}; it knows {}", type.text, joined(known)));
}

Result<void> parse_corners(LineParser& line, std::string_view mode, Tensor& tensor) {
  constexpr std::array kModes = {MapMode::im2col, MapMode::im2col_w, MapMode::im2col_w128};
  tensor.mode = *std::find_if(kModes.begin(), kModes.end(), [&](MapMode known) { return name_of(known) == mode; });
  TMA_JIT_ASSIGN(tensor.lower, line.bracketed("the lower corner"));
  TMA_JIT_ASSIGN(tensor.upper, line.bracketed("the upper corner"));
  return {};
}

Result<void> parse_valid_range(LineParser& line, Tensor& tensor) {
  ValidRange range;
  range.at = line.peek().at;
  TMA_JIT_ASSIGN(range.least, line.expression("the least valid value"));
  TMA_JIT_CHECK(line.expect("..", "in the range"));
  TMA_JIT_ASSIGN(range.most, line.expression("the greatest valid value"));
  range.rising = line.accept_word("rising");
  if (!range.rising && line.accept_word("distinct"))
    TMA_JIT_CHECK(store(line.expression("the condition of distinct"), range.distinct));
  range.checked = line.accept_word("checked");
  if (line.peek().is_word("rising") || line.peek().is_word("distinct")) {
    return line.error(line.peek().at, range.checked ? fmt::format("{} stands before checked", line.peek().text)
                                                    : "a range is rising or distinct, and says so once");
  }
  tensor.range = std::move(range);
  return {};
}

Result<void> parse_attribute(LineParser& line, std::string_view attribute, Tensor& tensor) {
  if (attribute == "box") return store(line.bracketed("the box"), tensor.box);
  if (attribute == "as") return parse_as(line, tensor);
  if (attribute.starts_with("im2col")) return parse_corners(line, attribute, tensor);
  if (attribute == "swizzle") return store(line.expression("the swizzle in bytes"), tensor.swizzle);
  if (attribute == "atom") return store(line.expression("the swizzle's atom in bytes"), tensor.atom);
  if (attribute == "interleave") return store(line.expression("the interleave in bytes"), tensor.interleave);
  if (attribute == "l2") return store(line.expression("the L2 promotion in bytes"), tensor.l2);
  if (attribute == "steps") return store(line.bracketed("the steps"), tensor.steps);
  if (attribute == "fill") return parse_fill(line, tensor);
  if (attribute == "in") return parse_valid_range(line, tensor);
  if (attribute == "when") return store(line.expression("the tensor's condition"), tensor.when);
  (attribute == "view"    ? tensor.viewed
   : attribute == "flip"  ? tensor.flip
   : attribute == "early" ? tensor.early
                          : tensor.output) = true;
  return {};
}

// `attributes` are those that the tensor has already, and receive those of this line.
Result<void> parse_attributes(LineParser& line, Tensor& tensor, std::vector<std::string>& attributes) {
  const std::vector<std::string> known = {"box",  "as",   "im2col",     "im2col_w", "im2col_w128", "swizzle",
                                          "atom", "flip", "interleave", "l2",       "steps",       "fill",
                                          "view", "out",  "early",      "in",       "when"};
  constexpr std::string_view kUnboxed[] = {"box", "out", "early", "in", "when"};
  std::vector<Token> given;
  while (line.peek().kind == Token::Kind::name) {
    const Token word = line.take();
    if (std::find(known.begin(), known.end(), word.text) == known.end()) {
      return unknown_name(line.error(word.at, fmt::format("unknown tensor attribute {}", word.text)), word.text, known);
    }
    for (const std::string& other : attributes) {
      if (other == word.text) return line.error(word.at, fmt::format("{} is given twice", word.text));
      if (other.starts_with("im2col") && word.text.starts_with("im2col"))
        return line.error(word.at, fmt::format("{} is {} already", tensor.name, other));
    }
    attributes.emplace_back(word.text);
    given.push_back(word);
    TMA_JIT_CHECK(parse_attribute(line, word.text, tensor));
  }
  for (const Token& word : given) {
    const bool boxed = std::find(std::begin(kUnboxed), std::end(kUnboxed), word.text) == std::end(kUnboxed);
    if (boxed && !tensor.box) {
      return line.error(word.at,
                        fmt::format("{} needs a box: without one {} has no tensor map", word.text, tensor.name));
    }
  }
  return {};
}

bool is_decimal_fraction(std::string_view number) {
  return !number.starts_with("0x") && !number.starts_with("0X") &&
         number.find_first_of(".eE") != std::string_view::npos;
}

// Parses a float literal with optional sign, or a constant integer expression.
Result<tma_jit::Scalar> parse_scalar_value(LineParser& line) {
  const Lexer start = line.mark();
  const bool negative = line.accept("-");
  const Token token = line.peek();
  if (token.kind != Token::Kind::number || !is_decimal_fraction(token.text)) {
    line.back_to(start);
    TMA_JIT_ASSIGN(const std::int64_t integer, line.constant("the scalar's default", "a scalar's default values"));
    return tma_jit::Scalar(integer);
  }
  line.take();
  std::string_view digits = token.text;
  if (digits.ends_with('f')) digits.remove_suffix(1);
  double value = 0;
  const auto [stopped, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || stopped != digits.data() + digits.size()) {
    return line.error(token.at, fmt::format("{} is not a number", token.text));
  }
  return tma_jit::Scalar(negative ? -value : value);
}

// Checks the default that the line has between `start` and where it is now.
Result<void> check_default(const LineParser& line, const Lexer& start, const Scalar& scalar) {
  const Position& at = start.peek().at;
  const std::optional<DType> type = scalar.type.concrete;
  const bool is_integer = type && !is_floating_point(*type);
  const auto* const whole = std::get_if<std::int64_t>(&*scalar.default_value);
  if (is_integer && whole == nullptr) {
    return line.error(at,
                      fmt::format("the default of {} must be an integer, as {} is one", scalar.name, scalar.type.name));
  }
  const std::string_view text = start.line().substr(start.begin(), line.mark().taken_end() - start.begin());
  if (!is_integer && whole != nullptr && text.find('/') != std::string_view::npos) {
    return line.error(
        at,
        fmt::format("{} divides integers, which gives {}; write the number that is meant, such as 0.5", text, *whole));
  }
  if (!type) return {};
  const auto image = scalar_image(scalar.name, *type, *scalar.default_value);
  if (!image) return line.error(at, image.error().message);
  return {};
}

Result<void> parse_hook_parameter(LineParser& line, Hook& hook) {
  Hook::Parameter parameter;
  TMA_JIT_ASSIGN(parameter.type, line.type_name("the type of a hook's parameter"));
  TMA_JIT_ASSIGN(const Token name, line.name("the name of the hook's parameter"));
  const auto same = [&](const Hook::Parameter& other) { return other.name == name.text; };
  if (std::any_of(hook.parameters.begin(), hook.parameters.end(), same)) {
    return line.error(name.at, fmt::format("{} has two parameters named {}", hook.name, name.text));
  }
  if (std::string reason = reserved_reason(name.text); !reason.empty()) return line.error(name.at, reason);
  parameter.name = name.text;
  parameter.at = name.at;
  if (line.accept_word("when")) TMA_JIT_CHECK(store(line.expression("the parameter's condition"), parameter.when));
  hook.parameters.push_back(std::move(parameter));
  return {};
}

// Returns the tensor of a used file to which the line adds attributes; nullptr if the line declares a tensor.
Tensor* used_tensor(LineParser& line, Builder& builder) {
  const Lexer start = line.mark();
  const Token name = line.take();
  const bool declares = line.peek().is(":");
  line.back_to(start);
  const auto named = [&](const Tensor& tensor) { return tensor.name == name.text && tensor.at.file != line.file(); };
  const auto found = std::ranges::find_if(builder.result.tensors, named);
  return declares || found == builder.result.tensors.end() ? nullptr : &*found;
}

Result<void> add_attributes(LineParser& line, Tensor& tensor, std::vector<std::string>& attributes) {
  line.take();
  if (line.peek().kind != Token::Kind::name) return line.unexpected(fmt::format("an attribute of {}", tensor.name));
  line.begin_declaration();
  TMA_JIT_CHECK(parse_attributes(line, tensor, attributes));
  Declaration added;
  TMA_JIT_CHECK(line.finish(added, "an attribute, a doc text or the end of the line"));
  tensor.text += " " + added.text;
  if (!added.doc.empty()) tensor.doc = added.doc;
  return {};
}

}  // namespace

Result<void> parse_tensor(LineParser& line, Builder& builder) {
  if (Tensor* used = used_tensor(line, builder)) return add_attributes(line, *used, builder.attributes[used->name]);
  Tensor tensor;
  TMA_JIT_ASSIGN(const Token name, declare_list(line, builder, NameKind::tensor));
  tensor.name = name.text;
  tensor.at = name.at;
  TMA_JIT_CHECK(line.expect(":", "after", name.text));
  TMA_JIT_ASSIGN(tensor.type, line.type_name("the tensor's element type"));
  TMA_JIT_ASSIGN(tensor.shape, line.bracketed("the shape"));
  TMA_JIT_CHECK(parse_attributes(line, tensor, builder.attributes[tensor.name]));
  TMA_JIT_CHECK(line.finish(tensor, "an attribute, a doc text or the end of the line"));
  builder.result.tensors.push_back(std::move(tensor));
  return {};
}

Result<void> parse_scalar(LineParser& line, Builder& builder) {
  Scalar scalar;
  TMA_JIT_ASSIGN(const Token name, declare(line, builder, NameKind::scalar));
  scalar.name = name.text;
  scalar.at = name.at;
  TMA_JIT_CHECK(line.expect(":", "after", name.text));
  TMA_JIT_ASSIGN(scalar.type, line.type_name("the scalar's type"));
  if (line.accept("=")) {
    const Lexer start = line.mark();
    TMA_JIT_CHECK(store(parse_scalar_value(line), scalar.default_value));
    TMA_JIT_CHECK(check_default(line, start, scalar));
  }
  TMA_JIT_CHECK(line.finish(scalar, "\"=\", a doc text or the end of the line"));
  builder.result.scalars.push_back(std::move(scalar));
  return {};
}

Result<void> parse_workspace(LineParser& line, Builder& builder) {
  Workspace workspace;
  TMA_JIT_ASSIGN(const Token name, declare(line, builder, NameKind::workspace));
  workspace.name = name.text;
  workspace.at = name.at;
  TMA_JIT_ASSIGN(workspace.bytes, line.expression("the workspace's size in bytes"));
  workspace.zeroed = line.accept_word("zero");
  TMA_JIT_CHECK(line.finish(workspace, "an operator, \"zero\", a doc text or the end of the line"));
  builder.result.workspaces.push_back(std::move(workspace));
  return {};
}

Result<void> parse_hook(LineParser& line, Builder& builder) {
  Hook hook;
  TMA_JIT_ASSIGN(const Token name, declare(line, builder, NameKind::hook));
  hook.name = name.text;
  hook.at = name.at;
  TMA_JIT_CHECK(line.expect("(", "after", name.text));
  if (!line.peek().is(")")) {
    do {
      TMA_JIT_CHECK(parse_hook_parameter(line, hook));
    } while (line.accept(","));
  }
  TMA_JIT_CHECK(line.expect(")", "after the hook's parameters"));
  TMA_JIT_CHECK(line.expect(":", "before the hook's result type"));
  TMA_JIT_ASSIGN(hook.result, line.type_name("the hook's result type"));
  hook.generic = line.accept_word("generic");
  if (line.peek().is("=")) {
    const Position at = line.take().at;
    hook.default_value = line.raw_text();
    if (hook.default_value->empty()) return line.error(at, fmt::format("the default of {} is empty", hook.name));
  }
  TMA_JIT_CHECK(line.finish(hook, "\"generic\", \"=\", a doc text or the end of the line"));
  builder.result.hooks.push_back(std::move(hook));
  return {};
}

}  // namespace tma_jit::templates
