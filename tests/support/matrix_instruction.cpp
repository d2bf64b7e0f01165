// The instruction descriptor of tcgen05.mma. PTX ISA 9.0, "tcgen05 Instruction descriptor" and "Shapes".
#include "core/failure.h"
#include "support/matrix_descriptor.h"

namespace tma_jit::plan {
namespace {

bool scaled(MmaKind kind) {
  return kind == MmaKind::mxf8f6f4 || kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4;
}

// The number of an element type in a kind's own list, or -1.
int format_of(MmaKind kind, MmaElement element) {
  switch (kind) {
    case MmaKind::f16: return element == MmaElement::f16 ? 0 : element == MmaElement::bf16 ? 1 : -1;
    case MmaKind::tf32: return element == MmaElement::tf32 ? 2 : -1;
    case MmaKind::i8: return element == MmaElement::u8 ? 0 : element == MmaElement::s8 ? 1 : -1;
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4: return element == MmaElement::e2m1 ? 1 : -1;
    case MmaKind::f8f6f4:
    case MmaKind::mxf8f6f4: {
      const int format = static_cast<int>(element) - static_cast<int>(MmaElement::e4m3);
      return format >= 0 && format <= 4 ? format : -1;
    }
  }
  return -1;
}

bool has_accumulator(MmaKind kind, MmaAccumulator d) {
  if (kind == MmaKind::i8) return d == MmaAccumulator::s32;
  if (d == MmaAccumulator::f16) return kind == MmaKind::f16 || kind == MmaKind::f8f6f4;
  return d == MmaAccumulator::f32;
}

bool has_shape(const Tcgen05Instruction& i) {
  if (i.n < 8 || i.n > 256) return false;
  if (i.blocks == 2) {
    const bool rows = i.m == 256 || (i.m == 128 && !(i.kind == MmaKind::mxf4 || i.kind == MmaKind::mxf4nvf4));
    return rows && i.n % (i.kind == MmaKind::i8 ? 32 : 16) == 0;
  }
  if (i.blocks != 1) return false;
  if (scaled(i.kind)) return i.m == 128 && i.n % 8 == 0;
  if (i.kind == MmaKind::i8) return (i.m == 64 || i.m == 128) && (i.n == 8 || i.n == 24 || i.n % 16 == 0);
  return (i.m == 64 && i.n % 8 == 0) || (i.m == 128 && i.n % 16 == 0);
}

bool has_mn_major(MmaKind kind, MmaElement element) {
  if (kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4) return false;
  return element != MmaElement::e2m3 && element != MmaElement::e3m2 && element != MmaElement::e2m1;
}

// "" where PTX has the instruction.
std::string_view fault_of(const Tcgen05Instruction& i) {
  if (format_of(i.kind, i.a) < 0 || format_of(i.kind, i.b) < 0) return "the kind does not multiply these types";
  if (!scaled(i.kind) && !has_accumulator(i.kind, i.d)) return "the kind does not have these accumulators";
  if (!has_shape(i)) return "the kind does not have this shape";
  if (i.a_major == Major::mn && !has_mn_major(i.kind, i.a)) return "4- and 6-bit types are K-major";
  if (i.b_major == Major::mn && !has_mn_major(i.kind, i.b)) return "4- and 6-bit types are K-major";
  if (i.kind == MmaKind::i8 ? i.negate_a || i.negate_b : i.saturate) return "integers saturate, others negate";
  if (i.scale_a_id < 0 || i.scale_a_id > 3 || i.scale_b_id < 0 || i.scale_b_id > 3) return "scale ids are 0 to 3";
  if (scaled(i.kind) && i.kind != MmaKind::mxf4nvf4 && i.scale == ScaleType::ue4m3)
    return "only mxf4nvf4 has ue4m3 scales";
  return "";
}

std::uint32_t bits(int value, int at) {
  return static_cast<std::uint32_t>(value) << at;
}

// The fields that every kind has.
std::uint32_t shared_fields(const Tcgen05Instruction& i) {
  return bits(format_of(i.kind, i.a), 7) | bits(format_of(i.kind, i.b), 10) | bits(i.negate_a ? 1 : 0, 13) |
         bits(i.negate_b ? 1 : 0, 14) | bits(i.a_major == Major::mn ? 1 : 0, 15) |
         bits(i.b_major == Major::mn ? 1 : 0, 16) | bits(i.n / 8, 17);
}

}  // namespace

Result<std::uint32_t> tcgen05_instruction(const Tcgen05Instruction& instruction) {
  const Tcgen05Instruction& i = instruction;
  if (const std::string_view fault = fault_of(i); !fault.empty()) {
    return failure(ErrorCode::invalid_argument, "tcgen05.mma: {} (m {}, n {}, {} blocks)", fault, i.m, i.n, i.blocks);
  }
  const std::uint32_t fields = shared_fields(i);
  if (scaled(i.kind)) {
    return fields | bits(i.scale_b_id, 4) | bits(i.scale == ScaleType::ue8m0 ? 1 : 0, 23) | bits(i.m / 16, 24) |
           bits(i.scale_a_id, 29);
  }
  return fields | bits(i.saturate ? 1 : 0, 3) | bits(static_cast<int>(i.d), 4) | bits(i.m / 16, 24);
}

}  // namespace tma_jit::plan
