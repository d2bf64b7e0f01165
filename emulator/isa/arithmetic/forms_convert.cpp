// cvt. PTX ISA 9.0, "Data Movement and Conversion Instructions: cvt".
#include <algorithm>
#include <array>

#include "emulator/decode/assembler.h"
#include "emulator/decode/frame.h"
#include "emulator/isa/arithmetic/convert_lanes.h"
#include "emulator/isa/arithmetic/handlers_arithmetic.h"
#include "emulator/isa/families.h"

namespace tma_jit::emulator::isa {
namespace {

using numeric::Format;
using numeric::Rounding;
using ptx::Type;

Format format_of(Type type) {
  switch (type) {
    case Type::u8: return Format::u8;
    case Type::s8: return Format::s8;
    case Type::u16: return Format::u16;
    case Type::s16: return Format::s16;
    case Type::u32: return Format::u32;
    case Type::s32: return Format::s32;
    case Type::u64: return Format::u64;
    case Type::s64: return Format::s64;
    case Type::f16: return Format::f16;
    case Type::bf16: return Format::bf16;
    case Type::tf32: return Format::tf32;
    case Type::f64: return Format::f64;
    default: return Format::f32;
  }
}

Rounding rounding_of(const Assembler& a) {
  if (a.has("rz") || a.has("rzi")) return Rounding::zero;
  if (a.has("rm") || a.has("rmi")) return Rounding::down;
  if (a.has("rp") || a.has("rpi")) return Rounding::up;
  if (a.has("rna")) return Rounding::nearest_away;
  return Rounding::nearest_even;
}

bool is_integral(const Assembler& a) {
  return a.has("rni") || a.has("rzi") || a.has("rmi") || a.has("rpi");
}

numeric::Conversion rules_of(const Assembler& a, Format from, Format to) {
  numeric::Conversion rules;
  rules.from = from;
  rules.to = to;
  rules.rounding = rounding_of(a);
  rules.integral = is_integral(a);
  rules.saturate = a.has("sat");
  rules.finite = a.has("satfinite");
  rules.flush = a.has("ftz");
  rules.relu = a.has("relu");
  return rules;
}

void convert_with(Assembler& a, ConversionForm form) {
  a.op.data = std::make_shared<ConversionForm>(std::move(form));
  a.computes(do_convert);
}

// Returns a lane function for the most frequent conversions; null for the others.
LaneFunction fast_lanes(const Assembler& a, Type to, Type from) {
  if (a.has("sat") || a.has("satfinite") || a.has("relu") || a.has("ftz") || rounding_of(a) != Rounding::nearest_even ||
      is_integral(a))
    return nullptr;
  return find_lanes(fmt::format("cvt_{}_{}", ptx::name_of(to), ptx::name_of(from)));
}

// Integers of the same width share their bits; a narrower result takes the low bits.
Type plain(Type type) {
  switch (type) {
    case Type::s8: return Type::u8;
    case Type::s16: return Type::u16;
    case Type::s32: return Type::u32;
    case Type::s64: return Type::u64;
    default: return type;
  }
}

bool holds_all_of(Type to, Type from) {
  if (ptx::is_signed(to) == ptx::is_signed(from)) return ptx::size_of(to) >= ptx::size_of(from);
  return ptx::is_signed(to) && ptx::size_of(to) > ptx::size_of(from);
}

// Between floating-point types: a conversion to the same width may only round to an integral value, one to a smaller
// width must round, and one to a larger width must not; bf16 may round to all but itself.
void check_float_rounding(const Assembler& a, Type to, Type from) {
  const bool rounds = a.has("rn") || a.has("rz") || a.has("rm") || a.has("rp");
  const bool to_integer = a.has("rni") || a.has("rzi") || a.has("rmi") || a.has("rpi");
  if (to_integer && to != from) a.refuse("only a float of the same type is rounded to an integer");
  if (rounds && to == from) a.refuse("nothing is to be rounded");
  const bool smaller = ptx::size_of(to) < ptx::size_of(from);
  if (smaller && !rounds) a.refuse("a rounding is missing");
  const bool larger = ptx::size_of(to) > ptx::size_of(from);
  if (larger && rounds && from != Type::bf16) a.refuse("nothing is to be rounded");
}

// Checks roundings, .sat and .ftz between two types as ptxas 13.0 does.
void check_cvt(const Assembler& a, Type to, Type from) {
  const bool from_float = ptx::is_float(from), to_float = ptx::is_float(to);
  const bool brain = to == Type::bf16 || from == Type::bf16;
  if (brain && (ptx::size_of(to) == 1 || ptx::size_of(from) == 1)) a.refuse("no conversion of these types");
  if (a.has("ftz") && to != Type::f32 && from != Type::f32) a.refuse(".ftz goes with f32");
  if (a.has("sat") && (brain || (!from_float && !to_float && holds_all_of(to, from))))
    a.refuse(".sat does not go with these types");
  if (from_float && to_float) check_float_rounding(a, to, from);
}

void build_cvt(Assembler& a) {
  const Type to = a.type(0), from = a.type(1);
  if (to == Type::tf32 || a.has("relu") || a.has("satfinite")) {
    if (to == Type::tf32 && a.has("satfinite") && !a.has("rna") && !a.target_has(Needs::sm_100))
      a.refuse(".satfinite with .rn and .rz needs {}", description_of(Needs::sm_100));
  } else {
    check_cvt(a, to, from);
  }
  a.op.d = a.wide_destination(a.operand(0), to);
  a.op.a = a.wide_source(a.operand(1), from);
  const bool narrows = ptx::size_of(to) <= ptx::size_of(from) && !ptx::is_float(to) && !ptx::is_float(from);
  const bool exact_widths =
      a.op.d.width == std::max(2, ptx::size_of(to)) && a.op.a.width == std::max(2, ptx::size_of(from));
  const bool zero_extends = !ptx::is_float(to) && !ptx::is_float(from) && !ptx::is_signed(from);
  if (exact_widths && ptx::size_of(to) >= 2 && ptx::size_of(from) >= 2) {
    a.op.lanes = narrows || zero_extends ? fast_lanes(a, plain(to), plain(from)) : fast_lanes(a, to, from);
    if (a.op.lanes == nullptr && ptx::is_signed(from) && !ptx::is_float(to)) {
      a.op.lanes = fast_lanes(a, ptx::size_of(to) == 8 ? Type::s64 : Type::s32, from);
    }
  }
  if (a.op.lanes != nullptr) {
    a.computes(do_lanes);
    return;
  }
  ConversionForm form;
  form.element = rules_of(a, format_of(from), format_of(to));
  convert_with(a, form);
}

// Converts two f32 into one register; the first becomes the high half.
void build_pack(Assembler& a) {
  const Type to = a.type(0);
  a.op.d = a.destination(0, to);
  a.op.a = a.source(1, Type::f32);
  a.op.b = a.source(2, Type::f32);
  if (a.has("rn") && !a.has("relu") && !a.has("satfinite")) {
    a.computes(do_lanes);
    a.op.lanes = find_lanes(to == Type::bf16x2 ? "cvt_pack_bf16x2" : "cvt_pack_f16x2");
    return;
  }
  ConversionForm form;
  form.element = rules_of(a, Format::f32, to == Type::bf16x2 ? Format::bf16 : Format::f16);
  form.to_bits = 16;
  convert_with(a, form);
}

// Pairs of elements without a register type of their own, and the distance in bits between the two.
struct Packed {
  std::string_view name;
  Format format;
  u8 bits;
};
constexpr std::array kPacked = {Packed{"e4m3x2", Format::e4m3, 8}, Packed{"e5m2x2", Format::e5m2, 8},
                                Packed{"e2m3x2", Format::e2m3, 8}, Packed{"e3m2x2", Format::e3m2, 8},
                                Packed{"e2m1x2", Format::e2m1, 4}, Packed{"ue8m0x2", Format::ue8m0, 8},
                                Packed{"f16x2", Format::f16, 16},  Packed{"bf16x2", Format::bf16, 16}};

const Packed& packed_named(std::string_view name) {
  return *std::ranges::find(kPacked, name, &Packed::name);
}

Type container_of(const Packed& packed) {
  return packed.bits == 4 ? Type::b8 : packed.bits == 8 ? Type::b16 : Type::b32;
}

// A pair of 4-bit elements takes an 8-bit register.
void check_byte(Assembler& a, const Packed& packed, std::size_t i) {
  const ptx::Operand& operand = a.operand(i);
  if (packed.bits != 4 || operand.kind != ptx::Operand::Kind::reg) return;
  if (ptx::size_of(a.frame().function().registers[operand.index]) != 1)
    a.refuse("{} takes a register of 8 bits", packed.name);
}

// Either d, a, b: two f32, the first to the high part; or d, a: one pair to another. The target type is written first.
void build_packed(Assembler& a) {
  std::vector<const Packed*> pairs;
  for (const std::string_view modifier : a.instruction().modifiers) {
    if (std::ranges::find(kPacked, modifier, &Packed::name) != kPacked.end()) pairs.push_back(&packed_named(modifier));
  }
  const bool from_singles = a.count() == 3;
  if (pairs.size() != (from_singles ? 1U : 2U)) a.refuse("not these types with {} operands", a.count());
  ConversionForm form;
  form.element = rules_of(a, from_singles ? Format::f32 : pairs[1]->format, pairs[0]->format);
  form.to_bits = pairs[0]->bits;
  check_byte(a, *pairs[0], 0);
  if (!from_singles) check_byte(a, *pairs[1], 1);
  a.op.d = a.wide_destination(a.operand(0), container_of(*pairs[0]));
  if (from_singles) {
    a.op.a = a.source(1, Type::f32);
    a.op.b = a.source(2, Type::f32);
  } else {
    form.parts = 2;
    form.from_bits = pairs[1]->bits;
    a.op.a = a.wide_source(a.operand(1), container_of(*pairs[1]));
  }
  convert_with(a, form);
}

constexpr Rule kToTf32[] = {{"rna", Rule::Kind::excludes, "relu"}};

constexpr Form kForms[] = {
    {"cvt ?sat u8|u16|u32|u64|s8|s16|s32|s64 u8|u16|u32|u64|s8|s16|s32|s64", "ds", Needs::any, build_cvt},
    {"cvt rn|rz|rm|rp ?sat f16|bf16|f32|f64 u8|u16|u32|u64|s8|s16|s32|s64", "ds", Needs::any, build_cvt},
    {"cvt rni|rzi|rmi|rpi ?ftz ?sat u8|u16|u32|u64|s8|s16|s32|s64 f16|bf16|f32|f64", "ds", Needs::any, build_cvt},
    {"cvt ?rn|rz|rm|rp|rni|rzi|rmi|rpi ?ftz ?sat f16|bf16|f32|f64 f16|bf16|f32|f64", "ds", Needs::any, build_cvt},
    {"cvt rn|rz ?relu ?satfinite f16|bf16 f32", "ds", Needs::any, build_cvt},
    {"cvt rn|rna|rz ?relu ?satfinite tf32 f32", "ds", Needs::sm_80, build_cvt, kToTf32},
    {"cvt rn|rz ?relu ?satfinite f16x2|bf16x2 f32", "dss", Needs::any, build_pack},
    {"cvt rn satfinite ?relu e4m3x2|e5m2x2 f32", "dss", Needs::any, build_packed},
    {"cvt rn satfinite ?relu e4m3x2|e5m2x2 f16x2", "ds", Needs::any, build_packed},
    {"cvt rn ?relu f16x2 e4m3x2|e5m2x2", "ds", Needs::any, build_packed},
    {"cvt rn satfinite ?relu e2m1x2|e2m3x2|e3m2x2 f32", "dss", Needs::sm_100, build_packed},
    {"cvt rn ?relu f16x2 e2m1x2|e2m3x2|e3m2x2", "ds", Needs::sm_100, build_packed},
    {"cvt rz|rp ?satfinite ue8m0x2 f32", "dss", Needs::sm_100, build_packed},
    {"cvt rz|rp ?satfinite ue8m0x2 bf16x2", "ds", Needs::sm_100, build_packed},
    {"cvt rn bf16x2 ue8m0x2", "ds", Needs::sm_100, build_packed},
};

}  // namespace

std::span<const Form> convert_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
