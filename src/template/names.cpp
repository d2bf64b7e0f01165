#include "template/names.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <tma_jit/dtype.h>

namespace tma_jit::templates {
namespace {

constexpr std::string_view kLanguageWords[] = {
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq"};

// Functions of expressions, and names that the preamble or CUDA defines.
constexpr std::string_view kTakenNames[] = {
    "CUtensorMap", "Dims",     "Hooks",     "Mapped",   "NULL",     "Operand",  "TMA_JIT_REFERENCE",
    "View",        "align_up", "alignment", "blockDim", "blockIdx", "ceil_div", "device",
    "dims",        "dtype",    "given",     "gridDim",  "hooks",    "integer",  "max",
    "min",         "stride",   "threadIdx", "warpSize"};

static_assert(std::ranges::is_sorted(kLanguageWords) && std::ranges::is_sorted(kTakenNames));

}  // namespace

std::string_view described(NameKind kind) {
  constexpr std::array<std::string_view, 11> kTexts = {"the kernel", "a type",     "a dim",    "a param",
                                                       "a let",      "a tensor",   "a scalar", "a workspace",
                                                       "a hook",     "an operand", "a list"};
  return kTexts[static_cast<std::size_t>(kind)];
}

std::string reserved_reason(std::string_view name) {
  if (dtype_named(name)) return fmt::format("{} is an element type and cannot be declared", name);
  if (std::ranges::binary_search(kLanguageWords, name))
    return fmt::format("{} is a word of C++ and cannot be declared", name);
  if (std::ranges::binary_search(kTakenNames, name))
    return fmt::format("{} already has a meaning in every template", name);
  if (name.starts_with("__"))
    return fmt::format("{} cannot be declared: names with __ in front are the compiler's", name);
  return {};
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (auto type = DType::u8; type <= DType::e5m2; type = static_cast<DType>(static_cast<int>(type) + 1)) {
    names.emplace_back(name_of(type));
  }
  return names;
}

std::vector<std::string> names_of(const NameTable& table, std::initializer_list<NameKind> kinds) {
  std::vector<std::string> names;
  for (const auto& [name, thing] : table) {
    if (std::find(kinds.begin(), kinds.end(), thing.kind) != kinds.end()) names.push_back(name);
  }
  return names;
}

}  // namespace tma_jit::templates
