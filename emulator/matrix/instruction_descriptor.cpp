#include "emulator/matrix/instruction_descriptor.h"

#include <string_view>

#include "emulator/fault.h"

namespace tma_jit::emulator::matrix {
namespace {

using numeric::Format;

u32 field(u32 bits, int at, int count) {
  return (bits >> at) & ((1U << count) - 1);
}

[[noreturn]] void refuse(u32 bits, std::string_view why) {
  throw_fault(FaultKind::descriptor, "the instruction descriptor {:#010x} of tcgen05.mma {}", bits, why);
}

Format small_float(u32 bits, u32 code) {
  switch (code) {
    case 0: return Format::e4m3;
    case 1: return Format::e5m2;
    case 3: return Format::e2m3;
    case 4: return Format::e3m2;
    case 5: return Format::e2m1;
    default: refuse(bits, "has a format of A or B that the kind does not know");
  }
}

Format operand_format(MmaKind kind, u32 bits, u32 code) {
  switch (kind) {
    case MmaKind::f16:
      if (code < 2) return code == 0 ? Format::f16 : Format::bf16;
      break;
    case MmaKind::tf32:
      if (code == 2) return Format::tf32;
      break;
    case MmaKind::i8:
      if (code < 2) return code == 0 ? Format::u8 : Format::s8;
      break;
    case MmaKind::f8f6f4:
    case MmaKind::mxf8f6f4: return small_float(bits, code);
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4:
      if (code == 1) return Format::e2m1;
      break;
  }
  refuse(bits, "has a format of A or B that the kind does not know");
}

Format result_format(MmaKind kind, u32 bits) {
  if (is_scaled(kind)) return Format::f32;
  const u32 code = field(bits, 4, 2);
  if (kind == MmaKind::i8) {
    if (code == 2) return Format::s32;
  } else if (code == 1) {
    return Format::f32;
  } else if (code == 0 && kind != MmaKind::tf32) {
    return Format::f16;
  }
  refuse(bits, "has a format of D that the kind does not know");
}

void check_rows(const MmaForm& form, u32 bits, u32 m) {
  const bool scaled = is_scaled(form.kind);
  const bool legal = form.cta_group == 2      ? m == 128 || m == 256
                     : form.weight_stationary ? m == 32 || m == 64 || m == 128
                     : scaled                 ? m == 128
                                              : m == 64 || m == 128;
  if (!legal) refuse(bits, "has a number of rows that the kind and the CTA group do not take");
}

// Returns the step of N. PTX ISA 9.0, table of shapes of tcgen05.mma.
u32 column_step(const MmaForm& form, const InstructionDescriptor& d) {
  if (form.weight_stationary) return 64;  // N is 64, 128 or 256
  if (form.cta_group == 2) return is_scaled(form.kind) ? 16 : form.kind == MmaKind::i8 ? 32 : 16;
  if (is_scaled(form.kind)) return 8;
  if (form.kind == MmaKind::i8) return d.n > 32 ? 16 : 8;
  return d.m == 64 ? 8 : 16;
}

void check_columns(const MmaForm& form, u32 bits, const InstructionDescriptor& d) {
  const bool stationary = d.n == 64 || d.n == 128 || d.n == 256;
  if (d.n == 0 || d.n > 256 || d.n % column_step(form, d) != 0 || (form.weight_stationary && !stationary))
    refuse(bits, "has a number of columns that the kind, the CTA group and M do not take");
  // 8-bit elements are transposed in units of 16 columns of each CTA.
  const bool bytes = numeric::bits_of(d.b) == 8;
  if (d.b_major == Major::mn && bytes && d.n % (16 * form.cta_group) != 0)
    refuse(bits, "transposes B of 8-bit elements and so needs N to be a multiple of 16 a CTA");
}

void decode_scales(const MmaForm& form, u32 bits, InstructionDescriptor& d) {
  d.scale = field(bits, 23, 1) != 0 ? Format::ue8m0 : Format::ue4m3;
  d.a_scale_id = field(bits, 29, 2);
  d.b_scale_id = field(bits, 4, 2);
  if (form.kind != MmaKind::mxf4nvf4 && d.scale != Format::ue8m0) refuse(bits, "needs scale factors of ue8m0 (bit 23)");
  if (d.scale == Format::ue4m3 && form.scale_vector != 4)
    refuse(bits, "takes scale factors of ue4m3 for blocks of 16 only");
  const u32 ids = form.scale_vector == 4 ? 1 : form.scale_vector == 2 ? 2 : 4;
  const u32 step = 4 / ids;
  if (d.a_scale_id % step != 0 || d.b_scale_id % step != 0)
    refuse(bits, "has a scale factor id that does not suit the number of scale factors");
  if (field(bits, 31, 1) != 0) {
    throw_fault(FaultKind::unsupported,
                "tcgen05.mma with K = 96 (bit 31 of the instruction descriptor {:#010x}) is not emulated", bits);
  }
}

u32 depth_of(MmaKind kind) {
  switch (kind) {
    case MmaKind::f16: return 16;
    case MmaKind::tf32: return 8;
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4: return 64;
    default: return 32;
  }
}

}  // namespace

bool is_scaled(MmaKind kind) {
  return kind >= MmaKind::mxf8f6f4;
}
bool is_packed(MmaKind kind) {
  return kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4;
}

InstructionDescriptor decode_instruction(const MmaForm& form, u32 bits) {
  if (field(bits, 2, 1) != 0) {
    throw_fault(FaultKind::unsupported,
                "sparse tcgen05.mma (bit 2 of the instruction descriptor {:#010x}) is not emulated", bits);
  }
  InstructionDescriptor d;
  d.m = field(bits, 24, 5) * 16;
  d.n = field(bits, 17, 6) * 8;
  d.k = depth_of(form.kind);
  d.a = operand_format(form.kind, bits, field(bits, 7, 3));
  d.b = operand_format(form.kind, bits, field(bits, 10, 3));
  d.d = result_format(form.kind, bits);
  d.negate_a = field(bits, 13, 1) != 0;
  d.negate_b = field(bits, 14, 1) != 0;
  d.a_major = field(bits, 15, 1) != 0 ? Major::mn : Major::k;
  d.b_major = field(bits, 16, 1) != 0 ? Major::mn : Major::k;
  d.saturate = field(bits, 3, 1) != 0;
  if (form.kind == MmaKind::i8 && (d.negate_a || d.negate_b)) refuse(bits, "negates integers");
  if (form.kind != MmaKind::i8 && d.saturate) refuse(bits, "saturates what is not an integer");
  if (is_scaled(form.kind)) {
    decode_scales(form, bits, d);
  } else if (form.weight_stationary) {
    d.max_shift = field(bits, 30, 2) == 0 ? 0 : 4U << field(bits, 30, 2);
  } else if (field(bits, 29, 3) != 0) {
    refuse(bits, "has reserved bits set");
  }
  check_rows(form, bits, d.m);
  check_columns(form, bits, d);
  return d;
}

}  // namespace tma_jit::emulator::matrix
