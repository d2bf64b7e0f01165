// The kinds of a template's names, and the words that cannot be names.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "template/source_text.h"

namespace tma_jit::templates {

enum class NameKind : std::uint8_t { kernel, type, dim, param, let, tensor, scalar, workspace, hook, operand, list };

std::string_view described(NameKind kind);  // "a param"

struct NamedThing {
  NameKind kind = NameKind::param;
  Position at;
};
using NameTable = std::map<std::string, NamedThing, std::less<>>;

// Returns why `name` cannot be declared: it is a word of C++, an element type, or a name that the body already has.
// Returns "" if it can.
std::string reserved_reason(std::string_view name);

std::vector<std::string> dtype_names();

// Returns the names in `table` of one of `kinds`.
std::vector<std::string> names_of(const NameTable& table, std::initializer_list<NameKind> kinds);

}  // namespace tma_jit::templates
