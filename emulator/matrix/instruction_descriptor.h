// The instruction descriptor of tcgen05.mma: shapes, formats and options that are not in the instruction's text. PTX
// ISA 9.0, "Instruction descriptor", tables for .kind::tf32 .f16 .f8f6f4 .i8 and for .mxf8f6f4 .mxf4 .mxf4nvf4.
#pragma once

#include "emulator/matrix/operand.h"

namespace tma_jit::emulator::matrix {

enum class MmaKind : u8 { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

// The properties that are in the instruction's text.
struct MmaForm {
  MmaKind kind = MmaKind::f16;
  u32 cta_group = 1;
  bool weight_stationary = false;  // .ws
  u32 scale_vector = 0;            // scale factors per row along K: 1, 2 or 4; 0 without block scaling
};

struct InstructionDescriptor {
  u32 m = 0;
  u32 n = 0;
  u32 k = 0;
  numeric::Format a = numeric::Format::bf16;
  numeric::Format b = numeric::Format::bf16;
  numeric::Format d = numeric::Format::f32;
  Major a_major = Major::k;
  Major b_major = Major::k;
  bool negate_a = false;
  bool negate_b = false;
  bool saturate = false;
  numeric::Format scale = numeric::Format::ue8m0;
  u32 a_scale_id = 0;
  u32 b_scale_id = 0;
  u32 max_shift = 0;  // .ws: maximum shift of a zero-column mask, in columns
};

bool is_scaled(MmaKind kind);
// Returns whether 4-bit elements are packed two to a byte instead of widened to bytes.
bool is_packed(MmaKind kind);

// Throws a descriptor fault that names the wrong field and the reason.
InstructionDescriptor decode_instruction(const MmaForm& form, u32 bits);

}  // namespace tma_jit::emulator::matrix
