// cvt of registers: applies numeric/convert.h to the lanes. PTX ISA 9.0, "cvt".
#pragma once

#include "emulator/numeric/convert.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

// Converts `parts` elements of one register to as many of another. With two sources of one element each, the first
// becomes the high part.
struct ConversionForm : FormData {
  numeric::Conversion element;
  u8 parts = 1;
  u8 from_bits = 0, to_bits = 0;  // distance between parts
};

}  // namespace tma_jit::emulator::isa
