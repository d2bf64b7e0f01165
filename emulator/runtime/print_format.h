// printf() in kernels: formats packed arguments when the call executes. CUDA C++ Programming Guide 13.0, "Formatted
// Output".
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "emulator/word.h"

namespace tma_jit::emulator::runtime {

// Sources of arguments and of %s texts. Both throw a fault if the address is invalid.
struct PrintSource {
  std::function<u64(u64 offset, u32 bytes)> argument;  // of the packed buffer, zero-extended
  std::function<std::string(u64 address)> text;
};

struct Printed {
  std::string text;
  int arguments = 0;  // taken from the buffer: the return value of printf()
};

// Arguments are packed in order, each aligned to its size: int 4 bytes, others 8, floats as double. Unsupported
// conversions are copied unchanged.
Printed print_formatted(std::string_view format, const PrintSource& source);

}  // namespace tma_jit::emulator::runtime
