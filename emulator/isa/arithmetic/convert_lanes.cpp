#include "emulator/isa/arithmetic/convert_lanes.h"

#include <bit>

#include "emulator/isa/arithmetic/handlers_arithmetic.h"
#include "emulator/machine/warp.h"

namespace tma_jit::emulator::isa {
namespace {

// A signed integer narrower than its register is sign-extended. PTX ISA 9.0, "Operand Size Exceeding Instruction-Type
// Size".
u64 extended(numeric::Format format, u64 value) {
  if (numeric::is_float(format) || !numeric::is_signed(format)) return value;
  const int unused = 64 - numeric::bits_of(format);
  return static_cast<u64>(static_cast<s64>(value << unused) >> unused);
}

u64 converted(const ConversionForm& form, u64 bits) {
  if (form.parts == 1) return extended(form.element.to, numeric::convert(form.element, bits));
  const u64 mask = (u64{1} << form.from_bits) - 1;
  u64 value = 0;
  for (u32 i = 0; i < form.parts; ++i)
    value |= numeric::convert(form.element, bits >> (i * form.from_bits) & mask) << (i * form.to_bits);
  return value;
}

}  // namespace

Step do_convert(Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const ConversionForm&>(*op.data);
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    u64 value = 0;
    if (op.b) {
      value = numeric::convert(form.element, warp.lane(op.a, i)) << form.to_bits |
              numeric::convert(form.element, warp.lane(op.b, i));
    } else {
      value = converted(form, warp.lane(op.a, i));
    }
    warp.set_lane(op.d, i, value);
  }
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
