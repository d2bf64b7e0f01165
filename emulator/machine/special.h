// Special registers. PTX ISA 9.0, "Special Registers".
#pragma once

#include <string_view>

#include "emulator/word.h"

namespace tma_jit::emulator {

class Warp;

// The width in bytes of a lane of a special register; 0 if the name is not a special register. `changes` means that its
// value depends on when it is read.
struct SpecialRegister {
  u8 width = 0;
  bool changes = false;
};
SpecialRegister special_register(std::string_view name);

u64 special_value(std::string_view name, const Warp& warp, int lane);

}  // namespace tma_jit::emulator
