// Functions of the device runtime that PTX declares: vprintf, __assertfail, malloc, free. CUDA C++ Programming Guide
// 13.0, "Formatted Output", "Assertion", "Dynamic Global Memory Allocation".
#pragma once

#include <optional>
#include <string_view>

#include "emulator/program/program.h"

namespace tma_jit::emulator::runtime {

enum class RuntimeFunction : u16 { print, assertion, allocate, release };

struct RuntimeSignature {
  RuntimeFunction function;
  std::size_t arguments;
  bool returns;
};
std::optional<RuntimeSignature> runtime_function(std::string_view name);

// list = addresses of the arguments in local memory, a = address of the result, kind = the function.
Step do_runtime_call(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator::runtime
