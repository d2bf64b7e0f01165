// Operands of matrix multiplications in shared memory: where each of their elements lies, and their values.
#pragma once

#include <vector>

#include "emulator/matrix/descriptor.h"
#include "emulator/numeric/format.h"
#include "emulator/numeric/registers.h"

namespace tma_jit::emulator::matrix {

enum class Major : u8 { k, mn };  // the dimension along which elements lie next to each other

// `rows` rows (of A; columns of B) of `depth` elements along K.
struct Operand {
  SharedDescriptor descriptor;
  number::Format format = number::Format::bf16;
  Major major = Major::k;
  u32 rows = 0;
  u32 depth = 0;
  // e2m1, e2m3 and e3m2: 16 elements packed at the front of 16 bytes (f8f6f4), or without gaps (mxf4).
  bool padded = false;
};

// Appends what the operand reads of shared memory, without padding, neighbours joined. Throws a bounds fault where it
// goes beyond `size` bytes, and a descriptor fault where the layout has no meaning for the format.
void append_footprint(const Operand& operand, u32 size, std::vector<Span>& spans);

// The values, from the block's bytes, which append_footprint() has checked. As rows, out[row * depth + k], or as
// columns, out[k * rows + row].
enum class Order : u8 { rows, columns };
void gather(const Operand& operand, const u8* shared, Order order, float* out);
void gather(const Operand& operand, const u8* shared, Order order, s32* out);  // 8-bit integers

// Elements as they lie in 32-bit words of registers or tensor memory: `words` of them to
// words * elements_per_word() values. Formats of less than 8 bits take 8 each, e2m1 in bits 2 to 5, unless they are
// packed.
u32 elements_per_word(number::Format format, bool packed);
void unpack(number::Format format, bool packed, const u8* words, u32 count, float* out);
void unpack(number::Format format, bool packed, const u8* words, u32 count, s32* out);

}  // namespace tma_jit::emulator::matrix
