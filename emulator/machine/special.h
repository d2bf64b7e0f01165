// Special registers. PTX ISA 9.0, "Special Registers".
#pragma once

#include <string_view>

#include "emulator/word.h"

namespace tma_jit::emulator {

class Warp;

// Bytes of a lane of the register that holds it; 0 where the name is no special register. `changes`: its value depends
// on when it is read.
struct SpecialRegister {
  u8 width = 0;
  bool changes = false;
};
SpecialRegister special_register(std::string_view name);

u64 special_value(std::string_view name, const Warp& warp, int lane);

}  // namespace tma_jit::emulator
