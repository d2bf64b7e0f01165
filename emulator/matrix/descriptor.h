// Matrix descriptors: the location and layout of an operand in shared memory. PTX ISA 9.0, "Matrix Descriptor Format"
// (wgmma) and "Shared memory descriptor" (tcgen05).
#pragma once

#include "emulator/word.h"

namespace tma_jit::emulator::matrix {

// Moves chunks of 16 bytes within 32, 64 or 128 bytes; b128_atom32 moves 32 bytes within 128.
enum class Swizzle : u8 { none, b32, b64, b128, b128_atom32 };

// All offsets are in bytes.
struct SharedDescriptor {
  u32 start = 0;
  u32 leading = 0;
  u32 stride = 0;
  u32 base_offset = 0;  // of the swizzle's pattern, in rows of 128 bytes
  Swizzle swizzle = Swizzle::none;
};

// Throw a descriptor fault if the bits are invalid.
SharedDescriptor decode_wgmma(u64 bits);
SharedDescriptor decode_tcgen05(u64 bits);

// Returns the bytes of a row of the swizzle's pattern: 16 for none.
u32 span_of(Swizzle swizzle);

// Returns the address to which the swizzle moves the byte at `address` of the layout.
inline u32 swizzled(const SharedDescriptor& descriptor, u32 address) {
  struct Pattern {
    u32 rows, shift;
  };
  static constexpr Pattern kPatterns[] = {{0, 0}, {1, 4}, {3, 4}, {7, 4}, {3, 5}};
  const Pattern pattern = kPatterns[static_cast<std::size_t>(descriptor.swizzle)];
  // The rows of the pattern are counted from the pattern's start.
  const u32 row = (address >> 7) - descriptor.base_offset;
  return address ^ ((row & pattern.rows) << pattern.shift);
}

}  // namespace tma_jit::emulator::matrix
