// add sub mul mad fma div rem min max abs neg, the approximations, and of the video instructions those that functions
// of CUDA C++ become. PTX ISA 9.0, "Integer Arithmetic Instructions", "Floating Point Instructions", "Half Precision
// Floating Point Instructions", "Video Instructions".
#include <cfenv>

#include "emulator/decode/assembler.h"
#include "emulator/isa/arithmetic/handlers_arithmetic.h"
#include "emulator/isa/arithmetic/rounded_lanes.h"
#include "emulator/isa/families.h"

namespace tma_jit::emulator::isa {
namespace {

using ptx::Type;

// Returns the lane function NAME_TYPE. Two's complement arithmetic has only an unsigned version.
LaneFunction lanes_of(const Assembler& a, std::string_view name, Type type) {
  std::string full = fmt::format("{}_{}", name, ptx::name_of(type));
  LaneFunction found = find_lanes(full);
  if (found == nullptr && !ptx::is_float(type)) {
    const int bits = ptx::bits_of(type);
    found = find_lanes(fmt::format("{}_u{}", name, bits));
    if (found == nullptr) found = find_lanes(fmt::format("{}_s{}", name, bits));
  }
  if (found == nullptr) a.refuse("no arithmetic {}", full);
  return found;
}

std::string operation_of(const Assembler& a) {
  std::string name(a.mnemonic());
  if (name == "mul24") return name + "_lo";
  if (name == "div" && a.has("approx")) return name + "_approx";
  for (const std::string_view part : {"lo", "hi", "wide"}) {
    if (a.has(part)) name += fmt::format("_{}", part);
  }
  return name;
}

int rounding_of(const Assembler& a) {
  return a.has("rz") ? FE_TOWARDZERO : a.has("rm") ? FE_DOWNWARD : a.has("rp") ? FE_UPWARD : FE_TONEAREST;
}

// Decodes rounding, .ftz and .sat. Only f32 and f16 have subnormals that .ftz flushes.
void finish_floats(Assembler& a, Type type) {
  const bool flushes = a.has("ftz") && type != Type::f64;
  if (!flushes && !a.has("sat") && !a.has("relu") && rounding_of(a) == FE_TONEAREST) return;
  auto form = std::make_shared<RoundedLanes>();
  if (flushes) form->flush = lanes_of(a, "flush", type);
  if (a.has("sat")) form->finish = lanes_of(a, "saturate", type);
  if (a.has("relu")) form->finish = lanes_of(a, "rectify", type);
  form->rounding = rounding_of(a);
  a.computes(do_lanes_rounded);
  a.op.data = std::move(form);
}

// d = OP a [, b [, c]], all of one type.
void build_same(Assembler& a) {
  const Type type = a.type();
  a.op.type = type;
  a.computes(do_lanes);
  std::string name = operation_of(a);
  if (name == "mad") name = "fma";  // floating-point mad.rn
  if (type == Type::f32 && a.count() == 4 && (name == "min" || name == "max")) {
    if (!a.target_has(Needs::sm_100)) a.refuse("three operands need {}", description_of(Needs::sm_100));
    name += "3";
  }
  if (a.has("NaN")) name += "_nan";
  a.op.lanes = lanes_of(a, name, type);
  a.op.d = a.destination(0, type);
  a.op.a = a.source(1, type);
  if (a.count() > 2) a.op.b = a.source(2, type);
  if (a.count() > 3) a.op.c = a.source(3, type);
  finish_floats(a, type);
}

// add.sat and sub.sat of integers.
void build_saturated(Assembler& a) {
  const Type type = a.type();
  a.op.type = type;
  a.computes(do_lanes);
  a.op.lanes = lanes_of(a, operation_of(a) + "_sat", type);
  a.op.d = a.destination(0, type);
  a.op.a = a.source(1, type);
  a.op.b = a.source(2, type);
}

// The product is twice as wide as the factors.
void build_wide(Assembler& a) {
  const Type type = a.type();
  const Type wide = ptx::size_of(type) == 2 ? Type::b32 : Type::b64;
  a.op.type = type;
  a.computes(do_lanes);
  a.op.lanes = lanes_of(a, operation_of(a), type);
  a.op.d = a.destination(0, wide);
  a.op.a = a.source(1, type);
  a.op.b = a.source(2, type);
  if (a.count() > 3) a.op.c = a.source(3, wide);
}

void build_carry(Assembler& a) {
  const Type type = a.type();
  const std::string_view name = a.mnemonic();
  a.op.type = type;
  a.op.handler = do_carry;
  a.op.kind = static_cast<u16>((name.starts_with("sub") ? 1 : 0) | (name.ends_with("c") ? 2 : 0) |
                               (a.has("cc") ? 4 : 0) | (a.has("lo") ? 8 : 0) | (a.has("hi") ? 16 : 0));
  a.op.d = a.destination(0, type);
  a.op.a = a.source(1, type);
  a.op.b = a.source(2, type);
  if (a.count() > 3) a.op.c = a.source(3, type);
}

void build_absolute_difference(Assembler& a) {
  a.computes(do_absolute_difference);
  a.op.kind = a.mnemonic() == "vabsdiff4" ? 8 : 16;
  a.op.immediate = a.has("add") ? 1 : 0;
  a.op.d = a.destination(0, Type::b32);
  a.op.a = a.source(1, Type::b32);
  a.op.b = a.source(2, Type::b32);
  a.op.c = a.source(3, Type::b32);
}

void build_dot(Assembler& a) {
  a.computes(do_dot);
  const int form = a.mnemonic() == "dp4a" ? 0 : a.has("hi") ? 2 : 1;
  a.op.kind = static_cast<u16>((a.type(0) == Type::s32 ? 1 : 0) | (a.type(1) == Type::s32 ? 2 : 0) | form << 2);
  a.op.d = a.destination(0, Type::b32);
  a.op.a = a.source(1, Type::b32);
  a.op.b = a.source(2, Type::b32);
  a.op.c = a.source(3, Type::b32);
}

// ex2.approx.ftz.bf16 exists only with .ftz. Flushing has no effect, because bf16 has the exponents of f32.
void build_ex2_bf16(Assembler& a) {
  a.op.type = a.type();
  a.computes(do_lanes);
  a.op.lanes = lanes_of(a, "ex2", a.type());
  a.op.d = a.destination(0, a.type());
  a.op.a = a.source(1, a.type());
}

using enum Rule::Kind;
constexpr Rule kReciprocals[] = {{"approx", needs, "ftz"}};  // for f64

constexpr Form kForms[] = {
    {"add u16|s16|u32|s32|u64|s64", "dss", Needs::any, build_same},
    {"sub u16|s16|u32|s32|u64|s64", "dss", Needs::any, build_same},
    {"add cc u32|s32|u64|s64", "dss", Needs::any, build_carry},
    {"sub cc u32|s32|u64|s64", "dss", Needs::any, build_carry},
    {"addc ?cc u32|s32|u64|s64", "dss", Needs::any, build_carry},
    {"subc ?cc u32|s32|u64|s64", "dss", Needs::any, build_carry},
    {"mul lo|hi u16|s16|u32|s32|u64|s64", "dss", Needs::any, build_same},
    {"mul wide u16|s16|u32|s32", "dss", Needs::any, build_wide},
    {"mad lo u16|s16|u32|s32|u64|s64", "dsss", Needs::any, build_same},
    {"mad hi u32|s32|u64", "dsss", Needs::any, build_same},
    {"mad lo|hi cc u32|s32|u64|s64", "dsss", Needs::any, build_carry},
    {"madc lo|hi ?cc u32|s32|u64|s64", "dsss", Needs::any, build_carry},
    {"mad wide u16|s16|u32|s32", "dsss", Needs::any, build_wide},
    {"mul24 lo u32|s32", "dss", Needs::any, build_same},
    {"sad u32|s32", "dsss", Needs::any, build_same},
    {"div u16|s16|u32|s32|u64|s64", "dss", Needs::any, build_same},
    {"rem u16|s16|u32|s32|u64|s64", "dss", Needs::any, build_same},
    {"abs s16|s32|s64", "ds", Needs::any, build_same},
    {"neg s16|s32|s64", "ds", Needs::any, build_same},
    {"min u16|s16|u32|s32|u64|s64", "dss", Needs::any, build_same},
    {"max u16|s16|u32|s32|u64|s64", "dss", Needs::any, build_same},
    {"add sat s32", "dss", Needs::any, build_saturated},
    {"sub sat s32", "dss", Needs::any, build_saturated},
    {"add u16x2|s16x2", "dss", Needs::sm_90, build_same},
    {"min u16x2|s16x2", "dss", Needs::sm_90, build_same},
    {"max u16x2|s16x2", "dss", Needs::sm_90, build_same},
    {"min relu s16x2|s32", "dss", Needs::sm_90, build_same},
    {"max relu s16x2|s32", "dss", Needs::sm_90, build_same},
    {"vabsdiff2 u32 u32 u32 ?add", "dsss", Needs::any, build_absolute_difference},
    {"vabsdiff4 u32 u32 u32 ?add", "dsss", Needs::any, build_absolute_difference},
    {"dp4a u32|s32 u32|s32", "dsss", Needs::any, build_dot},
    {"dp2a lo|hi u32|s32 u32|s32", "dsss", Needs::any, build_dot},

    {"add ?rn|rz|rm|rp ?ftz ?sat f32", "dss", Needs::any, build_same},
    {"sub ?rn|rz|rm|rp ?ftz ?sat f32", "dss", Needs::any, build_same},
    {"mul ?rn|rz|rm|rp ?ftz ?sat f32", "dss", Needs::any, build_same},
    {"fma rn|rz|rm|rp ?ftz ?sat f32", "dsss", Needs::any, build_same},
    {"mad rn|rz|rm|rp ?ftz ?sat f32", "dsss", Needs::any, build_same},
    {"div rn|rz|rm|rp|full|approx ?ftz f32", "dss", Needs::any, build_same},
    {"min ?ftz ?NaN f32", "dsss?", Needs::any, build_same},
    {"max ?ftz ?NaN f32", "dsss?", Needs::any, build_same},
    {"abs ?ftz f32", "ds", Needs::any, build_same},
    {"neg ?ftz f32", "ds", Needs::any, build_same},
    {"rcp rn|rz|rm|rp|approx ?ftz f32", "ds", Needs::any, build_same},
    {"sqrt rn|rz|rm|rp|approx ?ftz f32", "ds", Needs::any, build_same},
    {"rsqrt approx ?ftz f32", "ds", Needs::any, build_same},
    {"ex2 approx ?ftz f32", "ds", Needs::any, build_same},
    {"lg2 approx ?ftz f32", "ds", Needs::any, build_same},
    {"sin approx ?ftz f32", "ds", Needs::any, build_same},
    {"cos approx ?ftz f32", "ds", Needs::any, build_same},
    {"tanh approx f32", "ds", Needs::any, build_same},
    {"copysign f32|f64", "dss", Needs::any, build_same},

    {"add ?rn|rz|rm|rp f64", "dss", Needs::any, build_same},
    {"sub ?rn|rz|rm|rp f64", "dss", Needs::any, build_same},
    {"mul ?rn|rz|rm|rp f64", "dss", Needs::any, build_same},
    {"fma rn|rz|rm|rp f64", "dsss", Needs::any, build_same},
    {"mad rn|rz|rm|rp f64", "dsss", Needs::any, build_same},
    {"div rn|rz|rm|rp f64", "dss", Needs::any, build_same},
    {"min f64", "dss", Needs::any, build_same},
    {"max f64", "dss", Needs::any, build_same},
    {"abs f64", "ds", Needs::any, build_same},
    {"neg f64", "ds", Needs::any, build_same},
    {"rcp rn|rz|rm|rp|approx ?ftz f64", "ds", Needs::any, build_same, kReciprocals},
    {"sqrt rn|rz|rm|rp f64", "ds", Needs::any, build_same},
    {"rsqrt approx ?ftz f64", "ds", Needs::any, build_same},

    {"add ?rn|rz|rm|rp ?ftz f32x2", "dss", Needs::sm_100, build_same},
    {"sub ?rn|rz|rm|rp ?ftz f32x2", "dss", Needs::sm_100, build_same},
    {"mul ?rn|rz|rm|rp ?ftz f32x2", "dss", Needs::sm_100, build_same},
    {"fma rn|rz|rm|rp ?ftz f32x2", "dsss", Needs::sm_100, build_same},

    {"add ?rn ?ftz ?sat f16|f16x2", "dss", Needs::any, build_same},
    {"add ?rn bf16|bf16x2", "dss", Needs::any, build_same},
    {"sub ?rn ?ftz ?sat f16|f16x2", "dss", Needs::any, build_same},
    {"sub ?rn bf16|bf16x2", "dss", Needs::any, build_same},
    {"mul ?rn ?ftz ?sat f16|f16x2", "dss", Needs::any, build_same},
    {"mul ?rn bf16|bf16x2", "dss", Needs::any, build_same},
    {"fma rn ?ftz ?sat|relu f16|f16x2", "dsss", Needs::any, build_same},
    {"fma rn ?relu bf16|bf16x2", "dsss", Needs::any, build_same},
    {"min ?ftz ?NaN f16|f16x2", "dss", Needs::any, build_same},
    {"min ?NaN bf16|bf16x2", "dss", Needs::any, build_same},
    {"max ?ftz ?NaN f16|f16x2", "dss", Needs::any, build_same},
    {"max ?NaN bf16|bf16x2", "dss", Needs::any, build_same},
    {"abs f16|f16x2|bf16|bf16x2", "ds", Needs::any, build_same},
    {"neg f16|f16x2|bf16|bf16x2", "ds", Needs::any, build_same},
    {"ex2 approx f16|f16x2", "ds", Needs::any, build_same},
    {"ex2 approx ftz bf16|bf16x2", "ds", Needs::any, build_ex2_bf16},
    {"tanh approx f16|f16x2|bf16|bf16x2", "ds", Needs::any, build_same},
};

}  // namespace

std::span<const Form> arithmetic_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
