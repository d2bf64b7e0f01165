#include "emulator/exec/convert.h"

#include <bit>

#include "emulator/exec/handlers.h"
#include "emulator/exec/warp.h"

namespace tma_jit::emulator {
namespace {

u64 converted(const ConversionForm& form, u64 bits) {
  if (form.parts == 1) return number::convert(form.element, bits);
  const u64 mask = (u64{1} << form.from_bits) - 1;
  u64 value = 0;
  for (u32 i = 0; i < form.parts; ++i)
    value |= number::convert(form.element, bits >> (i * form.from_bits) & mask) << (i * form.to_bits);
  return value;
}

}  // namespace

Step do_convert(Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const ConversionForm&>(*op.data);
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    u64 value = 0;
    if (op.b) {
      value = number::convert(form.element, warp.lane(op.a, i)) << form.to_bits |
              number::convert(form.element, warp.lane(op.b, i));
    } else {
      value = converted(form, warp.lane(op.a, i));
    }
    warp.set_lane(op.d, i, value);
  }
  return Step::next;
}

}  // namespace tma_jit::emulator
