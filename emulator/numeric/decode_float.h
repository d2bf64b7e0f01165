// Arrays of element patterns as f32, for the multiplications: exact for every format up to tf32.
#pragma once

#include "emulator/numeric/format.h"

namespace tma_jit::emulator::number {

// The f32 of each pattern of a format of at most 8 bits.
const float* decode_table(Format format);

// `count` elements in containers of container_bytes(): tf32 loses the 13 bits the tensor cores do not read, f32 is
// copied. Not for 64-bit formats.
void decode_f32(Format format, const void* source, float* target, int count);

// Integers of at most 8 bits, each in a byte whose other bits are 0, sign- or zero-extended.
void decode_s32(Format format, const void* source, s32* target, int count);

}  // namespace tma_jit::emulator::number
