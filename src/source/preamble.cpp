#include "source/preamble.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "plan/operands.h"
#include "source/hook_expression.h"
#include "source/operand_uses.h"
#include "source/token_reader.h"

namespace tma_jit::source {
namespace {

// A function of the preamble that returns its argument; only its type is used.
constexpr std::string_view kValueOf = "tma_jit_value_of";

std::string literal(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) return fmt::format("({}LL - 1)", value + 1);
  if (value == std::numeric_limits<std::int32_t>::min()) return fmt::format("({} - 1)", value + 1);
  const bool is_int =
      value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
  return fmt::format("{}{}", value, is_int ? "" : "LL");
}

std::string_view integer_type(std::int64_t value) {
  return value == static_cast<std::int32_t>(value) ? "int" : "long long";
}

std::string declaration(const Constant& constant) {
  if (constant.kind == Constant::Kind::type) {
    return fmt::format("using {} = {};\n", constant.name, name_of(constant.type));
  }
  return fmt::format("constexpr {} {} = {};\n", integer_type(constant.value), constant.name, literal(constant.value));
}

// A wide dim is always long long, so that the body's arithmetic on it is 64-bit.
std::string declaration(const DimValue& dim) {
  return fmt::format("constexpr {} {} = {};", dim.wide ? "long long" : integer_type(dim.value), dim.name,
                     literal(dim.value));
}

std::string member(const DimValue& dim) {
  if (dim.fixed) return fmt::format(" static {}", declaration(dim));
  return fmt::format(" {} {};", dim.wide ? "long long" : "int", dim.name);
}

// Returns a function that gives the entries of each list of dims by their indices.
std::string list_members(const std::vector<DimValue>& dims) {
  std::string text;
  for (std::size_t first = 0; first < dims.size();) {
    std::size_t end = first + 1;
    while (end < dims.size() && dims[end].list == dims[first].list) ++end;
    if (!dims[first].list.empty()) {
      const std::string_view type = dims[first].wide ? "long long" : "int";
      text += fmt::format(" __device__ constexpr {} {}(int i) const {{ return ", type, dims[first].list);
      for (std::size_t i = first; i + 1 < end; ++i) text += fmt::format("i == {} ? {} : ", i - first, dims[i].name);
      text += fmt::format("{}; }}", dims[end - 1].name);
    }
    first = end;
  }
  return text;
}

// Returns the plan's constants and its fixed dims, in a namespace: ptxas 13.0 takes a variable of a module for a symbol
// of its own if both are named SMEM, and then adds the variable's address to those of shared memory.
std::string constants_text(const Plan& plan) {
  std::string text;
  for (const Constant& constant : plan.constants) text += declaration(constant);
  for (const DimValue& dim : plan.dims) {
    const bool listed = std::ranges::any_of(plan.constants, [&](const Constant& c) { return c.name == dim.name; });
    if (dim.fixed && !listed) text += declaration(dim) + "\n";
  }
  if (text.empty()) return text;
  return fmt::format("namespace tma_jit_constants {{\n{}}}\nusing namespace tma_jit_constants;\n", text);
}

std::string dims_text(const Plan& plan) {
  if (plan.dims.empty()) return {};
  std::string members;
  for (const DimValue& dim : plan.dims) members += member(dim);
  return fmt::format("struct Dims {{{}{} }};\n", members, list_members(plan.dims));
}

std::string parameters_of(const Hook& hook) {
  std::string parameters;
  for (const Hook::Parameter& parameter : hook.parameters) {
    parameters += fmt::format("{}{} {}", parameters.empty() ? "" : ", ", name_of(parameter.type), parameter.name);
  }
  return parameters;
}

std::string signature(const Hook& hook) {
  return fmt::format("__device__ {} {}({}) const", name_of(hook.result), hook.name, parameters_of(hook));
}

// The hook's text starts in column 1 after its own #line, so that the compiler's columns are the user's.
std::string definition(const Hook& hook, Operands operands) {
  const bool body = is_body(hook);
  return fmt::format("{} {{\n{}{}{}\n{}\n", signature(hook), body ? "" : "return (\n",
                     line_directive(1, "hook " + hook.name), with_parentheses(hook.text, operands), body ? "}" : ");}");
}

// Returns the hook's text in parentheses, in a line of its own.
std::string expression(const Hook& hook, Operands operands) {
  return fmt::format("(\n{}{}\n)", line_directive(1, "hook " + hook.name), with_parentheses(hook.text, operands));
}

bool reads_tensor(const Hook& hook, Operands operands) {
  return std::ranges::any_of(operands, [&](const Operand& operand) {
    return operand.rank > 0 && plan::names_operand(hook.text, operand.name);
  });
}

// Returns the members of a generic hook: whether its text is the request's, whether it reads an operand that is a
// tensor, and, if it is an expression, a template of the same text for arguments of any types. A call whose types the
// text has no meaning for is no error in the body but a failed substitution. It returns a value, also of a text such as
// `(s)` or `flag ? q : k`, of which decltype alone gives a reference: to one of the template's own parameters.
std::string generic_members(const Hook& hook, Operands operands) {
  std::string text = fmt::format("static constexpr bool {0}_given = {1}, {0}_reads = {2};\n", hook.name, hook.given,
                                 hook.given && reads_tensor(hook, operands));
  if (!hook.given || hook.parameters.empty() || is_body(hook)) return text;
  std::string types, parameters;
  for (const Hook::Parameter& parameter : hook.parameters) {
    const std::string_view comma = types.empty() ? "" : ", ";
    types += fmt::format("{}class {}_type", comma, parameter.name);
    parameters += fmt::format("{}{}_type {}", comma, parameter.name, parameter.name);
  }
  const std::string value = expression(hook, operands);
  return text + fmt::format("template <{}> __device__ auto {}_of({}) const -> decltype(::{}{}) {{\nreturn {};\n}}\n",
                            types, hook.name, parameters, kValueOf, value, value);
}

// Returns the type of an operand's elements in hooks.
DType value_type(const Operand& operand, DType real) {
  return is_floating_point(operand.type) ? real : operand.type;
}

// Returns the text of the members that device/epilogue/own_operands.cuh describes; empty if the hook has no own
// operand.
std::string own_members(const Hook& hook, Operands operands, DType real) {
  const std::vector<OwnOperand> own = own_operands_of(hook, operands);
  if (own.empty()) return {};
  std::string given, parameters = parameters_of(hook);
  for (const auto& [operand, row, column] : own) {
    given += fmt::format("{}::own<{}, {}>(this->{})", given.empty() ? "" : ", ", row, column, operand.name);
    parameters += fmt::format(", {} {}", name_of(value_type(operand, real)), operand.name);
  }
  return fmt::format(
      "template <class F> __device__ auto {0}_own(F f) const {{ return f({1}); }}\n"
      "__device__ {2} {0}_with({3}) const {{\nreturn (\n{4}{5}\n);}}\n",
      hook.name, given, name_of(hook.result), parameters, line_directive(1, "hook " + hook.name),
      with_parentheses(without_indices(hook.text, own), operands));
}

// Returns the type in which hooks compute and receive floating-point elements: f64 in a reference.
DType real_of(const Plan& plan) {
  const bool wide = std::ranges::any_of(plan.hooks, [](const Hook& hook) { return hook.result == DType::f64; });
  return plan.reference || wide ? DType::f64 : DType::f32;
}

// `repeated` states that hooks read the same elements for many results.
std::string member(const Operand& operand, DType real, bool repeated) {
  if (operand.rank == 0) return fmt::format("{} {};\n", name_of(operand.type), operand.name);
  return fmt::format("Operand<{}, {}, {}, {}{}{}> {};\n", name_of(operand.type), operand.rank,
                     name_of(value_type(operand, real)), operand.neighbours,
                     operand.together > 1 || repeated ? fmt::format(", {}", operand.together) : "",
                     repeated ? ", true" : "", operand.name);
}

// Gives the text that follows the preamble's own line numbers. After a hook's text this also says where it ends
// (compile/source_map.cpp).
void resume_lines(std::string& text) {
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  text += line_directive(lines + 1, kPreambleName);
}

// 117 is "non-void function should return a value", of `return;`, and 940 "missing return statement at end of non-void
// function". Both are warnings by default; the result would be undefined.
void append_hook(const Hook& hook, Operands operands, const Plan& plan, std::string& text) {
  const bool body = is_body(hook);
  if (body) text += "#pragma nv_diag_error 117, 940\n";
  text += definition(hook, operands);
  resume_lines(text);
  if (body) text += "#pragma nv_diag_default 117, 940\n";
  const std::string generic = hook.generic ? generic_members(hook, operands) : std::string();
  const std::string own = plan.reference ? std::string() : own_members(hook, operands, real_of(plan));
  if (generic.empty() && own.empty()) return;
  text += generic + own;
  resume_lines(text);
}

// Returns whether a hook reads the operand only at its own element.
bool is_own(const Operand& operand, const Plan& plan, Operands operands) {
  return std::ranges::any_of(plan.hooks, [&](const Hook& hook) {
    return std::ranges::any_of(own_operands_of(hook, operands),
                               [&](const OwnOperand& own) { return own.operand.name == operand.name; });
  });
}

// Emits the hooks of a kernel as member functions of its last parameter, whose members are their operands. The struct
// is aligned to 8 bytes: beside a less aligned __grid_constant__, NVRTC 13.0 reads other struct parameters byte by
// byte.
void append_hooks(const Plan& plan, std::string& text) {
  if (plan.hooks.empty()) return;
  std::vector<Operand> operands = operands_of(plan);
  for (Operand& operand : operands) {
    if (plan.reference || !is_own(operand, plan, operands)) operand.together = 1;
  }
  const bool generic = std::ranges::any_of(plan.hooks, [](const Hook& hook) { return hook.generic && hook.given; });
  if (generic) text += fmt::format("template <class X> __device__ X {}(X);\n", kValueOf);
  text += "struct alignas(8) Hooks {\n";
  for (const Operand& operand : operands) text += member(operand, real_of(plan), generic && !plan.reference);
  for (const Hook& hook : plan.hooks) append_hook(hook, operands, plan, text);
  text += "};\n";
}

}  // namespace

bool has_tensor_operand(const Plan& plan) {
  return std::ranges::any_of(plan.arguments, [](const Argument& argument) {
    return argument.hooks_offset.has_value() && argument.kind == Argument::Kind::view;
  });
}

void add_needs(std::string_view hook, HookNeeds& needs) {
  TokenReader reader(hook);
  for (Token token = reader.next(); token.kind != Token::Kind::end; token = reader.next()) {
    if (token.kind != Token::Kind::identifier) continue;
    if (std::ranges::find(kActivations, token.text) != kActivations.end()) needs.activations = true;
    if (std::ranges::find(kMasks, token.text) != kMasks.end()) needs.masks = true;
  }
}

std::string preamble_includes(HookNeeds needs) {
  std::string lines = "#include \"device/types.cuh\"\n";
  if (needs.tensors) lines += "#include \"device/tile/operand.cuh\"\n";
  if (needs.activations) lines += "#include \"device/tile/activation.cuh\"\n";
  if (needs.masks) lines += "#include \"device/tile/packed_mask.cuh\"\n";
  return lines;
}

std::string line_directive(std::size_t line, std::string_view file) {
  std::string escaped;
  for (const char c : file) {
    if (c == '"' || c == '\\') escaped.push_back('\\');
    escaped.push_back(c == '\n' ? ' ' : c);
  }
  return fmt::format("#line {} \"{}\"\n", line, escaped);
}

std::string preamble(const Plan& plan) {
  std::string text = line_directive(1, kPreambleName);
  HookNeeds needs = {.tensors = has_tensor_operand(plan)};
  for (const Hook& hook : plan.hooks) add_needs(hook.text, needs);
  text += preamble_includes(needs);
  if (plan.reference && !plan.hooks.empty()) text += "#include \"device/reference/mixed_types.cuh\"\n";
  if (plan.reference) text += "#define TMA_JIT_REFERENCE 1\n";
  text += constants_text(plan) + dims_text(plan);
  append_hooks(plan, text);
  return text + line_directive(1, plan.file);
}

}  // namespace tma_jit::source
