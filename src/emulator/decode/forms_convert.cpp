// cvt. PTX ISA 9.0, "Data Movement and Conversion Instructions: cvt".
#include "emulator/decode/assembler.h"
#include "emulator/exec/convert.h"
#include "emulator/exec/handlers.h"

namespace tma_jit::emulator::decode {
namespace {

using ptx::Type;

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

// The whole warp at once, for the conversions that kernels are full of; null for the rest.
LaneFunction fast_lanes(const Assembler& a, Type to, Type from) {
  if (a.has("sat") || a.has("ftz") || rounding_of(a) != Rounding::nearest_even || is_integral(a)) return nullptr;
  return find_lanes(fmt::format("cvt_{}_{}", ptx::name_of(to), ptx::name_of(from)));
}

// Integers of the same width are the same bits; a narrower result takes the low ones.
Type plain(Type type) {
  switch (type) {
    case Type::s8: return Type::u8;
    case Type::s16: return Type::u16;
    case Type::s32: return Type::u32;
    case Type::s64: return Type::u64;
    default: return type;
  }
}

void build_cvt(Assembler& a) {
  const Type to = a.type(0), from = a.type(1);
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
    a.op.handler = do_lanes;
    return;
  }
  auto conversion = std::make_shared<Conversion>();
  conversion->to = to;
  conversion->from = from;
  conversion->rounding = rounding_of(a);
  conversion->integral = is_integral(a);
  conversion->saturate = a.has("sat");
  conversion->finite = a.has("satfinite");
  conversion->flush = a.has("ftz");
  conversion->relu = a.has("relu");
  a.op.data = std::move(conversion);
  a.op.handler = do_convert;
}

// Two f32 into one register; the first is the high half.
void build_pack(Assembler& a) {
  const Type to = a.type(0);
  a.op.d = a.destination(0, to);
  a.op.a = a.source(1, Type::f32);
  a.op.b = a.source(2, Type::f32);
  if (a.has("rn") && !a.has("relu") && !a.has("satfinite")) {
    a.op.handler = do_lanes;
    a.op.lanes = find_lanes(to == Type::bf16x2 ? "cvt_pack_bf16x2" : "cvt_pack_f16x2");
    return;
  }
  auto conversion = std::make_shared<Conversion>();
  conversion->to = to == Type::bf16x2 ? Type::bf16 : Type::f16;
  conversion->from = Type::f32;
  conversion->rounding = rounding_of(a);
  conversion->finite = a.has("satfinite");
  conversion->relu = a.has("relu");
  a.op.data = std::move(conversion);
  a.op.handler = do_convert;
}

constexpr Form kForms[] = {
    {"cvt ?sat u8|u16|u32|u64|s8|s16|s32|s64 u8|u16|u32|u64|s8|s16|s32|s64", "ds", Needs::any, build_cvt},
    {"cvt rn|rz|rm|rp ?sat f16|bf16|f32|f64 u8|u16|u32|u64|s8|s16|s32|s64", "ds", Needs::any, build_cvt},
    {"cvt rni|rzi|rmi|rpi ?ftz ?sat u8|u16|u32|u64|s8|s16|s32|s64 f16|bf16|f32|f64", "ds", Needs::any, build_cvt},
    {"cvt ?rn|rz|rm|rp|rni|rzi|rmi|rpi ?ftz ?sat f32|f64 f16|bf16|f32|f64", "ds", Needs::any, build_cvt},
    {"cvt ?rn|rz|rm|rp|rni|rzi|rmi|rpi ?ftz ?sat ?relu ?satfinite f16|bf16 f16|bf16|f32|f64", "ds", Needs::any,
     build_cvt},
    {"cvt rn|rna|rz ?relu ?satfinite tf32 f32", "ds", Needs::sm_80, build_cvt},
    {"cvt rn|rz ?relu ?satfinite f16x2|bf16x2 f32", "dss", Needs::any, build_pack},
};

}  // namespace

std::span<const Form> convert_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::decode
