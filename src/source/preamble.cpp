#include "source/preamble.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "source/directives.h"

namespace tma_jit::emission {
namespace {

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

// A wide dim is long long however small its value is, so that the body's arithmetic on it is 64-bit.
std::string declaration(const DimValue& dim) {
  return fmt::format("constexpr {} {} = {};", dim.wide ? "long long" : integer_type(dim.value), dim.name,
                     literal(dim.value));
}

std::string member(const DimValue& dim) {
  if (dim.fixed) return fmt::format(" static {}", declaration(dim));
  return fmt::format(" {} {};", dim.wide ? "long long" : "int", dim.name);
}

// A fixed dim is also a global constant, unless the plan lists it among its constants already.
std::string dims_text(const Plan& plan) {
  if (plan.dims.empty()) return {};
  std::string globals, members;
  for (const DimValue& dim : plan.dims) {
    const bool listed = std::ranges::any_of(plan.constants, [&](const Constant& c) { return c.name == dim.name; });
    if (dim.fixed && !listed) globals += declaration(dim) + "\n";
    members += member(dim);
  }
  return fmt::format("{}struct Dims {{{} }};\n", globals, members);
}

std::string signature(const Hook& hook) {
  std::string parameters;
  for (const Hook::Parameter& parameter : hook.parameters) {
    parameters += fmt::format("{}{} {}", parameters.empty() ? "" : ", ", name_of(parameter.type), parameter.name);
  }
  return fmt::format("__device__ inline {} {}({})", name_of(hook.result), hook.name, parameters);
}

// The text starts at column 1 of its own #line, so that the compiler's columns are the user's.
std::string definition(const Hook& hook) {
  const bool is_body = blanked(hook.text).find(';') != std::string::npos;
  return fmt::format("{} {{\n{}{}{}\n{}\n", signature(hook), is_body ? "" : "return (\n",
                     line_directive(1, "hook " + hook.name), hook.text, is_body ? "}" : ");}");
}

void append_hooks(const Plan& plan, std::string& text) {
  for (const Hook& hook : plan.hooks) {
    text += definition(hook);
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    text += line_directive(lines + 1, kPreambleName);
  }
}

}  // namespace

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
  text += "#include \"device/types.cuh\"\n";
  if (plan.reference) text += "#define TMA_JIT_REFERENCE 1\n";
  for (const Constant& constant : plan.constants) text += declaration(constant);
  text += dims_text(plan);
  append_hooks(plan, text);
  return text + line_directive(1, plan.file);
}

}  // namespace tma_jit::emission
