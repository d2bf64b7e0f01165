// The instruction descriptor of tcgen05.mma: shapes, formats and options that PTX's text does not say. PTX ISA 9.0,
// "Instruction descriptor", tables for .kind::tf32 .f16 .f8f6f4 .i8 and for .mxf8f6f4 .mxf4 .mxf4nvf4.
#pragma once

#include "emulator/matrix/operand.h"

namespace tma_jit::emulator::matrix {

enum class MmaKind : u8 { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

// What the text of the instruction says beside the descriptor.
struct MmaForm {
  MmaKind kind = MmaKind::f16;
  u32 cta_group = 1;
  bool weight_stationary = false;  // .ws
  u32 scale_vector = 0;            // scale factors of a row along K: 1, 2 or 4; 0 without block scaling
};

struct InstructionDescriptor {
  u32 m = 0;
  u32 n = 0;
  u32 k = 0;
  number::Format a = number::Format::bf16;
  number::Format b = number::Format::bf16;
  number::Format d = number::Format::f32;
  Major a_major = Major::k;
  Major b_major = Major::k;
  bool negate_a = false;
  bool negate_b = false;
  bool saturate = false;
  number::Format scale = number::Format::ue8m0;
  u32 a_scale_id = 0;
  u32 b_scale_id = 0;
  u32 max_shift = 0;  // .ws: columns that a zero-column mask may shift by
};

bool is_scaled(MmaKind kind);
// Whether 4-bit elements are packed two to a byte, rather than widened to bytes.
bool is_packed(MmaKind kind);

// Throws a descriptor fault, saying which field is wrong and why.
InstructionDescriptor decode_instruction(const MmaForm& form, u32 bits);

}  // namespace tma_jit::emulator::matrix
