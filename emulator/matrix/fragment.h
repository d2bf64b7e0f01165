// ldmatrix, stmatrix and movmatrix: 8 by 8 (and 16 by 16, 8 by 16, 16 by 8) matrices between rows of 16 bytes in shared
// memory and fragments in registers. PTX ISA 9.0, "ldmatrix", "stmatrix", "movmatrix".
#pragma once

#include <array>

#include "emulator/matrix/registers.h"

namespace tma_jit::emulator::matrix {

enum class Shape : u8 {
  m8n8_b16,   // also transposed
  m16n16_b8,  // ldmatrix, always transposed
  m8n16_b8,   // ldmatrix from 4- or 6-bit elements
  m16n8_b8    // stmatrix, always transposed
};
// The source format of ldmatrix in 16 bytes: 16 bytes, or 16 elements of 4 or 6 bits at the front that are widened to
// bytes.
enum class Source : u8 { whole, b4x16_p64, b6x16_p32 };

struct MatrixMove {
  Shape shape = Shape::m8n8_b16;
  bool transposed = false;
  u32 count = 1;  // matrices: 1, 2 or 4
  Source source = Source::whole;
};

// Returns how many of the 16 bytes at a lane's address are moved; the rest is padding.
u32 row_bytes(const MatrixMove& move);
// Returns the number of lanes whose addresses name rows; the others are ignored.
u32 address_lanes(const MatrixMove& move);
u32 registers_of(const MatrixMove& move);

// `rows` points to 16 bytes of shared memory for each of address_lanes() lanes.
using MatrixRows = std::array<u8*, kLanes>;
void load_matrix(const MatrixMove& move, const MatrixRows& rows, Registers d);
void store_matrix(const MatrixMove& move, const MatrixRows& rows, Registers s);

// movmatrix.sync.aligned.m8n8.trans.b16
void transpose_matrix(u8* d, const u8* s);

}  // namespace tma_jit::emulator::matrix
