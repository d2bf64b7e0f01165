// Operands of matrix multiplications in shared memory: the locations and the values of their elements.
#pragma once

#include <vector>

#include "emulator/byte_range.h"
#include "emulator/matrix/descriptor.h"
#include "emulator/matrix/registers.h"
#include "emulator/numeric/format.h"

namespace tma_jit::emulator::matrix {

enum class Major : u8 { k, mn };  // the dimension along which elements are contiguous

// `rows` rows of A, or columns of B, with `depth` elements along K.
struct Operand {
  SharedDescriptor descriptor;
  numeric::Format format = numeric::Format::bf16;
  Major major = Major::k;
  u32 rows = 0;
  u32 depth = 0;
  // For e2m1, e2m3 and e3m2: 16 elements are packed at the front of 16 bytes (f8f6f4); otherwise without gaps (mxf4).
  bool padded = false;
};

// Appends the ranges of shared memory that the operand reads, without padding, adjacent ranges joined. Throws a bounds
// fault if they exceed `size` bytes, and a descriptor fault if the layout is invalid for the format.
void append_footprint(const Operand& operand, u32 size, std::vector<ByteRange>& spans);

// Reads the values from the block's memory, which append_footprint() has checked, to out[row * depth + k] (rows) or
// out[k * rows + row] (columns).
enum class Order : u8 { rows, columns };
void gather(const Operand& operand, const u8* shared, Order order, float* out);
void gather(const Operand& operand, const u8* shared, Order order, s32* out);  // 8-bit integers

// Decode `count` 32-bit words of registers or tensor memory to count * elements_per_word() values. Unless packed,
// formats of less than 8 bits take 8 bits each, e2m1 in bits 2 to 5.
u32 elements_per_word(numeric::Format format, bool packed);
void unpack(numeric::Format format, bool packed, const u8* words, u32 count, float* out);
void unpack(numeric::Format format, bool packed, const u8* words, u32 count, s32* out);

}  // namespace tma_jit::emulator::matrix
