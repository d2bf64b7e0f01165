// cvt of registers: number/convert.h on the lanes. PTX ISA 9.0, "cvt".
#pragma once

#include "emulator/numeric/convert.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator {

// `parts` elements of one register to as many of another. Where there are two sources, one element each, the first
// becomes the high part.
struct ConversionForm : FormData {
  number::Conversion element;
  u8 parts = 1;
  u8 from_bits = 0, to_bits = 0;  // from one part to the next, where there are several
};

}  // namespace tma_jit::emulator
