// printf on the device: the format and the packed arguments become text when the call executes. CUDA C++ Programming
// Guide 13.0, "Formatted Output".
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "emulator/word.h"

namespace tma_jit::emulator {

// Where arguments and the texts of %s come from; both throw where the address is bad.
struct PrintSource {
  std::function<u64(u64 offset, u32 bytes)> argument;  // of the packed buffer, zero-extended
  std::function<std::string(u64 address)> text;
};

struct Printed {
  std::string text;
  int arguments = 0;  // taken from the buffer: what printf returns on the device
};

// Arguments lie one after the other, each at a multiple of its size: int 4 bytes, others 8, floats as double.
// Conversions that the device has not are copied as they are.
Printed print_formatted(std::string_view format, const PrintSource& source);

}  // namespace tma_jit::emulator
