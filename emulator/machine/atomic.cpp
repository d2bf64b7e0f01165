// Results of atomic operations and reductions. PTX ISA 9.0, "atom", "red".
#include <bit>

#include "emulator/machine/atomic.h"
#include "emulator/numeric/float_bits.h"

namespace tma_jit::emulator {
namespace {

using ptx::Type;

template <class T> T least(T a, T b) {
  return b < a || a != a ? b : a;
}
template <class T> T most(T a, T b) {
  return a < b || a != a ? b : a;
}

u16 half_result(Atomic kind, bool brain, u16 a, u16 b) {
  const float x = brain ? numeric::bf16_to_f32(a) : numeric::f16_to_f32(a);
  const float y = brain ? numeric::bf16_to_f32(b) : numeric::f16_to_f32(b);
  const float value = kind == Atomic::add ? x + y : kind == Atomic::min ? least(x, y) : most(x, y);
  return brain ? numeric::f32_to_bf16(value) : numeric::f32_to_f16(value);
}

u64 float_result(Atomic kind, Type type, u64 a, u64 b) {
  if (type == Type::f64) {
    const auto x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
    return std::bit_cast<u64>(kind == Atomic::add ? x + y : kind == Atomic::min ? least(x, y) : most(x, y));
  }
  if (type == Type::f32) {
    const auto x = std::bit_cast<float>(static_cast<u32>(a)), y = std::bit_cast<float>(static_cast<u32>(b));
    return std::bit_cast<u32>(kind == Atomic::add ? x + y : kind == Atomic::min ? least(x, y) : most(x, y));
  }
  const bool brain = type == Type::bf16 || type == Type::bf16x2;
  const u64 low = half_result(kind, brain, static_cast<u16>(a), static_cast<u16>(b));
  if (type == Type::f16 || type == Type::bf16) return low;
  return low | u64{half_result(kind, brain, static_cast<u16>(a >> 16), static_cast<u16>(b >> 16))} << 16;
}

u64 ordered_result(Atomic kind, Type type, u64 a, u64 b) {
  if (!ptx::is_signed(type)) return kind == Atomic::min ? std::min(a, b) : std::max(a, b);
  const s64 x = ptx::size_of(type) == 4 ? static_cast<s32>(a) : static_cast<s64>(a);
  const s64 y = ptx::size_of(type) == 4 ? static_cast<s32>(b) : static_cast<s64>(b);
  return static_cast<u64>(kind == Atomic::min ? std::min(x, y) : std::max(x, y));
}

}  // namespace

u64 atomic_value(Atomic kind, Type type, u64 old, u64 b, u64 c) {
  const bool floating = ptx::is_float(type) || type == Type::f16x2 || type == Type::bf16x2;
  switch (kind) {
    case Atomic::add: return floating ? float_result(kind, type, old, b) : old + b;
    case Atomic::min:
    case Atomic::max: return floating ? float_result(kind, type, old, b) : ordered_result(kind, type, old, b);
    case Atomic::inc: return old >= b ? 0 : old + 1;
    case Atomic::dec: return old == 0 || old > b ? b : old - 1;
    case Atomic::conjunction: return old & b;
    case Atomic::disjunction: return old | b;
    case Atomic::exclusive: return old ^ b;
    case Atomic::exchange: return b;
    case Atomic::compare_exchange: break;
  }
  const u64 mask = ptx::size_of(type) == 8 ? ~u64{0} : (u64{1} << ptx::bits_of(type)) - 1;
  return ((old ^ b) & mask) == 0 ? c : old;
}

}  // namespace tma_jit::emulator
