// The text that emission puts before a template: constants, types, Dims, hooks, and a #line for the template's first
// line.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include <tma_jit/plan.h>

namespace tma_jit::source {

// The preamble's file name in errors.
inline constexpr std::string_view kPreambleName = "preamble";

// What hooks need of headers that a kernel itself may not include.
struct HookNeeds {
  bool tensors = false;      // they read tensors of their own
  bool activations = false;  // they call functions of device/tile/activation.cuh
  bool masks = false;        // they call functions of device/tile/packed_mask.cuh
  auto operator<=>(const HookNeeds&) const = default;
};

// Returns the lines by which every preamble begins: what it includes.
std::string preamble_includes(HookNeeds needs);
// Returns whether a plan's hooks read tensors.
bool has_tensor_operand(const Plan& plan);
// Adds what the functions need that a hook's text calls.
void add_needs(std::string_view hook, HookNeeds& needs);

// Ends with `#line 1 "FILE"`, so that the template's text can follow unchanged.
std::string preamble(const Plan& plan);

// Returns a #line directive with its newline, e.g. `#line 1 "name"`.
std::string line_directive(std::size_t line, std::string_view file);

}  // namespace tma_jit::source
