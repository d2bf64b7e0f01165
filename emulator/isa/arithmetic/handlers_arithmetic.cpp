// Arithmetic and logic on registers.
#include "emulator/isa/arithmetic/handlers_arithmetic.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "emulator/machine/special.h"
#include "emulator/machine/warp.h"

namespace tma_jit::emulator::isa {
namespace {

struct alignas(64) Lanes {
  u8 bytes[kLanes * 16];
};

u64 extended(u64 value, u32 bits, bool is_signed) {
  if (bits >= 64) return value;
  value &= (u64{1} << bits) - 1;
  if (is_signed && bits > 0 && (value >> (bits - 1) & 1U) != 0) value |= ~u64{0} << bits;
  return value;
}

}  // namespace

Step do_lanes(Warp& warp, const Op& op, Mask active) {
  const u8* a = warp.values<u8>(op.a);
  const u8* b = op.b ? warp.values<u8>(op.b) : nullptr;
  const u8* c = op.c ? warp.values<u8>(op.c) : nullptr;
  if (active == kAllLanes && op.d) {
    op.lanes(warp.writable<u8>(op.d), a, b, c);
    return Step::next;
  }
  Lanes result;
  op.lanes(result.bytes, a, b, c);
  warp.set(op.d, active, result.bytes);
  return Step::next;
}

Step do_compare(Warp& warp, const Op& op, Mask active) {
  Lanes flushed[2];
  const u8* a = warp.values<u8>(op.a);
  const u8* b = warp.values<u8>(op.b);
  if (op.flush) {
    static const LaneFunction flush_f32 = find_lanes("flush_f32"), flush_f16 = find_lanes("flush_f16");
    const LaneFunction flush = op.type == ptx::Type::f16 ? flush_f16 : flush_f32;
    flush(flushed[0].bytes, a, nullptr, nullptr);
    flush(flushed[1].bytes, b, nullptr, nullptr);
    a = flushed[0].bytes;
    b = flushed[1].bytes;
  }
  const Mask holds = op.compare(a, b);
  const auto combine = static_cast<Combine>(op.kind);
  const Mask with = combine == Combine::none ? 0 : warp.predicate(op.c);
  const auto combined = [&](Mask value) {
    if (combine == Combine::conjunction) return value & with;
    if (combine == Combine::disjunction) return value | with;
    if (combine == Combine::exclusive) return value ^ with;
    return value;
  };
  warp.set_predicate(op.d, active, combined(holds));
  if (op.second) warp.set_predicate(op.second, active, combined(~holds));
  return Step::next;
}

Step do_set(Warp& warp, const Op& op, Mask active) {
  const Mask holds = op.compare(warp.values<u8>(op.a), warp.values<u8>(op.b));
  const u64 yes = op.immediate;
  for_each(active, [&](int i) { warp.set_lane(op.d, i, (holds >> i & 1U) != 0 ? yes : 0); });
  return Step::next;
}

Step do_select(Warp& warp, const Op& op, Mask active) {
  const Mask holds = warp.predicate(op.c);
  warp.set(op.d, active & holds, warp.values<u8>(op.a));
  warp.set(op.d, active & ~holds, warp.values<u8>(op.b));
  return Step::next;
}

Step do_logic(Warp& warp, const Op& op, Mask active) {
  const Mask a = warp.predicate(op.a);
  const Mask b = op.b ? warp.predicate(op.b) : 0;
  Mask value = a;
  switch (static_cast<Logic>(op.kind)) {
    case Logic::conjunction: value = a & b; break;
    case Logic::disjunction: value = a | b; break;
    case Logic::exclusive: value = a ^ b; break;
    case Logic::negation: value = ~a; break;
    case Logic::copy: break;
  }
  warp.set_predicate(op.d, active, value);
  return Step::next;
}

Step do_lop3(Warp& warp, const Op& op, Mask active) {
  const u32* a = warp.values<u32>(op.a);
  const u32* b = warp.values<u32>(op.b);
  const u32* c = warp.values<u32>(op.c);
  u32 result[kLanes] = {};
  for (u32 row = 0; row < 8; ++row) {
    if ((op.immediate >> row & 1U) == 0) continue;
    const u32 not_a = (row & 4U) != 0 ? 0 : ~u32{0};
    const u32 not_b = (row & 2U) != 0 ? 0 : ~u32{0};
    const u32 not_c = (row & 1U) != 0 ? 0 : ~u32{0};
    for (int i = 0; i < kLanes; ++i) result[i] |= (a[i] ^ not_a) & (b[i] ^ not_b) & (c[i] ^ not_c);
  }
  warp.set(op.d, active, result);
  return Step::next;
}

namespace {

u32 permuted(u64 bytes, u32 selectors) {
  u32 out = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 selector = selectors >> (4 * i) & 15U;
    u32 byte = static_cast<u32>(bytes >> (8 * (selector & 7U))) & 0xffU;
    if ((selector & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xffU : 0;
    out |= byte << (8 * i);
  }
  return out;
}

// PTX ISA 9.0, "prmt": the selectors of the special modes, by the two low bits of c.
u32 selectors_of(Permute mode, u32 c) {
  static constexpr u16 kSelectors[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
                                           {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
                                           {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
  return mode == Permute::general ? c : kSelectors[static_cast<int>(mode) - 1][c & 3U];
}

}  // namespace

Step do_prmt(Warp& warp, const Op& op, Mask active) {
  const u32* a = warp.values<u32>(op.a);
  const u32* b = warp.values<u32>(op.b);
  const u32* c = warp.values<u32>(op.c);
  u32 result[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    result[i] = permuted(u64{b[i]} << 32 | a[i], selectors_of(static_cast<Permute>(op.kind), c[i]));
  }
  warp.set(op.d, active, result);
  return Step::next;
}

Step do_shf(Warp& warp, const Op& op, Mask active) {
  const u32* a = warp.values<u32>(op.a);
  const u32* b = warp.values<u32>(op.b);
  const u32* c = warp.values<u32>(op.c);
  u32 result[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const u64 both = u64{b[i]} << 32 | a[i];
    const u32 amount = (op.kind & 2U) != 0 ? std::min<u32>(c[i], 32) : c[i] & 31U;
    result[i] = static_cast<u32>((op.kind & 1U) != 0 ? both >> amount : both << amount >> 32);
    if (amount == 32) result[i] = (op.kind & 1U) != 0 ? b[i] : a[i];
  }
  warp.set(op.d, active, result);
  return Step::next;
}

Step do_bfe(Warp& warp, const Op& op, Mask active) {
  const u32 width = static_cast<u32>(ptx::bits_of(op.type));
  const bool is_signed = ptx::is_signed(op.type);
  for_each(active, [&](int i) {
    const u64 value = extended(warp.lane(op.a, i), width, is_signed);
    const u32 position = warp.lane(op.b, i) & 0xffU;
    const u32 length = warp.lane(op.c, i) & 0xffU;
    u64 field = position >= 64 ? (is_signed && (value >> 63) != 0 ? ~u64{0} : 0)
                : is_signed    ? static_cast<u64>(static_cast<s64>(value) >> position)
                               : value >> position;
    // Beyond the top, a signed field consists of sign bits, because the value was extended.
    field = length == 0 ? 0 : extended(field, std::min(length, width), is_signed);
    warp.set_lane(op.d, i, field);
  });
  return Step::next;
}

Step do_bfi(Warp& warp, const Op& op, Mask active) {
  const u32 width = static_cast<u32>(ptx::bits_of(op.type));
  for_each(active, [&](int i) {
    const u32 position = warp.lane(op.c, i) & 0xffU;
    const u32 length = std::min<u32>(warp.lane(op.e, i) & 0xffU, width);
    u64 mask = length >= 64 ? ~u64{0} : (u64{1} << length) - 1;
    mask = position >= width ? 0 : mask << position;
    const u64 inserted = position >= width ? 0 : warp.lane(op.a, i) << position;
    warp.set_lane(op.d, i, (warp.lane(op.b, i) & ~mask) | (inserted & mask));
  });
  return Step::next;
}

Step do_count(Warp& warp, const Op& op, Mask active) {
  const bool wide = ptx::size_of(op.type) == 8;
  for_each(active, [&](int i) {
    u64 value = warp.lane(op.a, i);
    if (op.kind >= 2 && ptx::is_signed(op.type)) {
      value = extended(value, wide ? 64 : 32, true);
      if (static_cast<s64>(value) < 0) value = ~value;
      if (!wide) value &= ~u32{0};
    }
    const int top = 63 - std::countl_zero(value);  // -1 for 0
    const int leading = (wide ? 63 : 31) - top;
    const u64 results[] = {static_cast<u64>(std::popcount(value)), static_cast<u64>(leading), static_cast<u64>(top),
                           value == 0 ? ~u64{0} : static_cast<u64>(leading)};
    warp.set_lane(op.d, i, results[op.kind]);
  });
  return Step::next;
}

Step do_dot(Warp& warp, const Op& op, Mask active) {
  const bool signed_a = (op.kind & 1U) != 0, signed_b = (op.kind & 2U) != 0;
  const u32 form = op.kind >> 2;
  const u32 bits = form == 0 ? 8 : 16, count = form == 0 ? 4 : 2, skip = form == 2 ? 16 : 0;
  for_each(active, [&](int i) {
    const u64 a = warp.lane(op.a, i), b = warp.lane(op.b, i) >> skip;
    u64 sum = warp.lane(op.c, i);
    for (u32 k = 0; k < count; ++k)
      sum += extended(a >> (k * bits), bits, signed_a) * extended(b >> (k * 8), 8, signed_b);
    warp.set_lane(op.d, i, sum);
  });
  return Step::next;
}

Step do_absolute_difference(Warp& warp, const Op& op, Mask active) {
  const u32 bits = op.kind;
  for_each(active, [&](int i) {
    const u64 a = warp.lane(op.a, i), b = warp.lane(op.b, i);
    u64 parts = 0, sum = warp.lane(op.c, i);
    for (u32 at = 0; at < 32; at += bits) {
      const u64 x = extended(a >> at, bits, false), y = extended(b >> at, bits, false);
      const u64 difference = x > y ? x - y : y - x;
      parts |= difference << at;
      sum += difference;
    }
    warp.set_lane(op.d, i, op.immediate != 0 ? sum : parts);
  });
  return Step::next;
}

namespace {

// PTX ISA 9.0, "fns". With `nth` 0 only bit `from` is looked at. Without such a bit the result is ~0.
u32 nth_set(u32 mask, u32 from, s32 nth) {
  const auto is_set = [mask](s64 bit) { return bit >= 0 && bit < 32 && (mask >> bit & 1U) != 0; };
  if (nth == 0) return is_set(from) ? from : ~u32{0};
  const s64 step = nth > 0 ? 1 : -1;
  s64 left = nth > 0 ? nth : -s64{nth};
  for (s64 bit = from; bit >= 0 && bit < 32; bit += step) {
    if (is_set(bit) && --left == 0) return static_cast<u32>(bit);
  }
  return ~u32{0};
}

}  // namespace

Step do_find_nth_set(Warp& warp, const Op& op, Mask active) {
  for_each(active, [&](int i) {
    const auto word = [&](const RegisterRef& reg) { return static_cast<u32>(warp.lane(reg, i)); };
    warp.set_lane(op.d, i, nth_set(word(op.a), word(op.b), static_cast<s32>(word(op.c))));
  });
  return Step::next;
}

Step do_testp(Warp& warp, const Op& op, Mask active) {
  static constexpr int kWanted[6][5] = {
      // nan, infinite, zero, subnormal, normal
      {0, 0, 1, 1, 1}, {0, 1, 0, 0, 0}, {0, 1, 1, 1, 1}, {1, 0, 0, 0, 0}, {0, 0, 0, 0, 1}, {0, 0, 0, 1, 0}};
  Mask holds = 0;
  for_each(active, [&](int i) {
    const u64 bits = warp.lane(op.a, i);
    const int type = op.type == ptx::Type::f32 ? std::fpclassify(std::bit_cast<float>(static_cast<u32>(bits)))
                                               : std::fpclassify(std::bit_cast<double>(bits));
    const int column = type == FP_NAN         ? 0
                       : type == FP_INFINITE  ? 1
                       : type == FP_ZERO      ? 2
                       : type == FP_SUBNORMAL ? 3
                                              : 4;
    if (kWanted[op.kind][column] != 0) holds |= Mask{1} << i;
  });
  warp.set_predicate(op.d, active, holds);
  return Step::next;
}

namespace {

// Returns the lower or the upper half of the product of two integers.
u64 half_of_product(u64 a, u64 b, ptx::Type type, bool upper) {
  const u32 bits = static_cast<u32>(ptx::bits_of(type)), unused = 64 - bits;
  unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  if (ptx::is_signed(type)) {
    const auto wide = [&](u64 x) { return static_cast<__int128>(static_cast<s64>(x << unused) >> unused); };
    product = static_cast<unsigned __int128>(wide(a) * wide(b));
  }
  return static_cast<u64>(upper ? product >> bits : product) << unused >> unused;
}

}  // namespace

Step do_carry(Warp& warp, const Op& op, Mask active) {
  const u32 bits = static_cast<u32>(ptx::bits_of(op.type));
  const u64 ones = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  const bool subtract = (op.kind & 1U) != 0, in = (op.kind & 2U) != 0, out = (op.kind & 4U) != 0;
  const bool multiply = (op.kind & 24U) != 0, upper = (op.kind & 16U) != 0;
  for_each(active, [&](int i) {
    const u64 first = warp.lane(op.a, i), second = warp.lane(op.b, i);
    const unsigned __int128 a = multiply ? half_of_product(first, second, op.type, upper) : first;
    const u64 b = multiply ? warp.lane(op.c, i) : second;
    const bool carry = in && (warp.carry >> i & 1U) != 0;
    // Subtraction adds the complement, whose carry out means "no borrow". PTX keeps the borrow.
    const unsigned __int128 sum = subtract ? a + (~b & ones) + (carry ? 0U : 1U) : a + b + (carry ? 1U : 0U);
    const bool carried = (sum >> bits & 1U) != 0;
    if (out) warp.carry = (warp.carry & ~(Mask{1} << i)) | (Mask{carried != subtract} << i);
    warp.set_lane(op.d, i, static_cast<u64>(sum));
  });
  return Step::next;
}

Step do_pack(Warp& warp, const Op& op, Mask active) {
  const u32 bits = static_cast<u32>(ptx::bits_of(op.type)) / static_cast<u32>(op.list.size());
  if (op.d && op.d.width == 16) {
    for_each(active, [&](int i) {
      u64* to = warp.writable<u64>(op.d) + std::ptrdiff_t{2} * i;
      to[0] = warp.lane(op.list[0], i);
      to[1] = warp.lane(op.list[1], i);
    });
    return Step::next;
  }
  for_each(active, [&](int i) {
    u64 value = 0;
    for (std::size_t k = op.list.size(); k-- > 0;)
      value = value << bits | extended(warp.lane(op.list[k], i), bits, false);
    warp.set_lane(op.d, i, value);
  });
  return Step::next;
}

Step do_unpack(Warp& warp, const Op& op, Mask active) {
  const u32 bits = static_cast<u32>(ptx::bits_of(op.type)) / static_cast<u32>(op.list.size());
  if (op.a.width == 16) {
    for_each(active, [&](int i) {
      const u64* from = warp.values<u64>(op.a) + std::ptrdiff_t{2} * i;
      const u64 value[2] = {from[0], from[1]};
      warp.set_lane(op.list[0], i, value[0]);
      warp.set_lane(op.list[1], i, value[1]);
    });
    return Step::next;
  }
  for_each(active, [&](int i) {
    u64 value = warp.lane(op.a, i);
    for (const RegisterRef& part : op.list) {
      warp.set_lane(part, i, value);
      value = bits < 64 ? value >> bits : 0;
    }
  });
  return Step::next;
}

Step do_move_wide(Warp& warp, const Op& op, Mask active) {
  Lanes copy;
  std::memcpy(copy.bytes, warp.values<u8>(op.a), sizeof copy.bytes);
  warp.set(op.d, active, copy.bytes);
  return Step::next;
}

Step do_special(Warp& warp, const Op& op, Mask active) {
  for_each(active, [&](int i) { warp.set_lane(op.d, i, special_value(op.source->operands[1].name, warp, i)); });
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
