// Decoding of element patterns to f32, exact for every format up to tf32.
#pragma once

#include "emulator/numeric/format.h"

namespace tma_jit::emulator::numeric {

// Returns a table of the f32 values of all patterns of a format of at most 8 bits.
const float* decode_table(Format format);

// Decodes `count` elements in containers of container_bytes() bytes. For tf32 the 13 bits that tensor cores ignore are
// cleared; f32 is copied. 64-bit formats are not supported.
void decode_f32(Format format, const void* source, float* target, int count);

// Decodes integers of at most 8 bits, each in a byte whose other bits are 0.
void decode_s32(Format format, const void* source, s32* target, int count);

}  // namespace tma_jit::emulator::numeric
