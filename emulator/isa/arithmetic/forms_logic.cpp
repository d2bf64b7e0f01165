// Logic, shifts, bit fields, comparisons, selection and moves. PTX ISA 9.0, "Logic and Shift Instructions",
// "Comparison and Selection Instructions", "Data Movement: mov, prmt".
#include <map>

#include "emulator/decode/assembler.h"
#include "emulator/isa/arithmetic/handlers_arithmetic.h"
#include "emulator/isa/families.h"
#include "emulator/machine/special.h"

namespace tma_jit::emulator::isa {
namespace {

using ptx::Operand;
using ptx::Type;

Type unsigned_of(int bits) {
  return bits == 16 ? Type::u16 : bits == 32 ? Type::u32 : Type::u64;
}

void build_bitwise(Assembler& a) {
  const Type type = a.type();
  const std::string_view name = a.mnemonic();
  if (type == Type::pred) {
    a.computes(do_logic, name == "and" ? Flow::conjunction : name == "or" ? Flow::disjunction : Flow::computes);
    static const std::map<std::string_view, Logic> kinds = {
        {"and", Logic::conjunction}, {"or", Logic::disjunction}, {"xor", Logic::exclusive}, {"not", Logic::negation}};
    a.op.kind = static_cast<u16>(kinds.at(name));
    a.op.d = a.predicate_destination(0);
    a.op.a = a.predicate(1);
    if (a.count() > 2) a.op.b = a.predicate(2);
    return;
  }
  const Type bits = unsigned_of(ptx::bits_of(type));
  a.computes(do_lanes);
  a.op.lanes = find_lanes(fmt::format("{}_{}", name, ptx::name_of(bits)));
  a.op.d = a.destination(0, type);
  a.op.a = a.source(1, type);
  if (a.count() > 2) a.op.b = a.source(2, type);
}

void build_shift(Assembler& a) {
  const Type type = a.type();
  const Type lanes = ptx::is_signed(type) ? type : unsigned_of(ptx::bits_of(type));
  a.computes(do_lanes);
  a.op.lanes = find_lanes(fmt::format("{}_{}", a.mnemonic(), ptx::name_of(lanes)));
  a.op.d = a.destination(0, type);
  a.op.a = a.source(1, type);
  a.op.b = a.source(2, Type::u32);
}

// A result and three operands of 32 bits.
void take_words(Assembler& a) {
  a.op.d = a.destination(0, Type::b32);
  a.op.a = a.source(1, Type::b32);
  a.op.b = a.source(2, Type::b32);
  a.op.c = a.source(3, Type::b32);
}

void build_shf(Assembler& a) {
  a.computes(do_shf);
  a.op.kind = static_cast<u16>((a.has("r") ? 1 : 0) | (a.has("clamp") ? 2 : 0));
  take_words(a);
}

void build_lop3(Assembler& a) {
  a.computes(do_lop3);
  take_words(a);
  a.op.immediate = a.immediate(4);
}

void build_prmt(Assembler& a) {
  static const std::map<std::string_view, Permute> modes = {{"f4e", Permute::f4e}, {"b4e", Permute::b4e},
                                                            {"rc8", Permute::rc8}, {"ecl", Permute::ecl},
                                                            {"ecr", Permute::ecr}, {"rc16", Permute::rc16}};
  a.computes(do_prmt);
  for (const auto& [name, mode] : modes) {
    if (a.has(name)) a.op.kind = static_cast<u16>(mode);
  }
  take_words(a);
}

void build_bfe(Assembler& a) {
  a.computes(do_bfe);
  a.op.type = a.type();
  a.op.d = a.destination(0, a.type());
  a.op.a = a.source(1, a.type());
  a.op.b = a.source(2, Type::u32);
  a.op.c = a.source(3, Type::u32);
}

void build_bfi(Assembler& a) {
  a.computes(do_bfi);
  a.op.type = a.type();
  a.op.d = a.destination(0, a.type());
  a.op.a = a.source(1, a.type());
  a.op.b = a.source(2, a.type());
  a.op.c = a.source(3, Type::u32);
  a.op.e = a.source(4, Type::u32);
}

void build_count(Assembler& a) {
  a.computes(do_count);
  a.op.type = a.type();
  a.op.kind = a.mnemonic() == "popc" ? 0 : a.mnemonic() == "clz" ? 1 : a.has("shiftamt") ? 3 : 2;
  a.op.d = a.destination(0, Type::u32);
  a.op.a = a.source(1, a.type());
}

void build_find_nth_set(Assembler& a) {
  a.computes(do_find_nth_set);
  take_words(a);
}

void build_brev(Assembler& a) {
  a.computes(do_lanes);
  a.op.lanes = find_lanes(a.type() == Type::b64 ? "brev_b64" : "brev_b32");
  a.op.d = a.destination(0, a.type());
  a.op.a = a.source(1, a.type());
}

// lo, ls, hi and hs are the unsigned versions of lt, le, gt and ge.
std::string comparison_of(const Assembler& a) {
  static const std::map<std::string_view, std::string_view> unsigned_names = {
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  const std::string_view written = a.instruction().modifiers[1];
  const auto found = unsigned_names.find(written);
  return std::string(found != unsigned_names.end() ? found->second : written);
}

CompareFunction compare_of(const Assembler& a, Type type) {
  const Type operands = ptx::is_float(type) || ptx::is_signed(type) ? type : unsigned_of(ptx::bits_of(type));
  const std::string name = fmt::format("{}_{}", comparison_of(a), ptx::name_of(operands));
  const CompareFunction found = find_compare(name);
  if (found == nullptr) a.refuse("no comparison {}", name);
  return found;
}

void build_setp(Assembler& a) {
  const Type type = a.type();
  a.computes(do_compare);
  a.op.type = type;
  a.op.flush = a.has("ftz") && (type == Type::f32 || type == Type::f16);
  a.op.compare = compare_of(a, type);
  if (a.operand(0).kind == Operand::Kind::pair) {
    a.op.d = a.destination(a.operand(0).parts[0], Type::pred);
    a.op.second = a.destination(a.operand(0).parts[1], Type::pred);
  } else {
    a.op.d = a.predicate_destination(0);
  }
  a.op.a = a.source(1, type);
  a.op.b = a.source(2, type);
  const bool combined = a.count() > 3;
  if (combined != (a.has("and") || a.has("or") || a.has("xor")))
    a.refuse("a predicate to combine with and .and, .or or .xor go together");
  if (!combined) return;
  a.op.kind = static_cast<u16>(a.has("and")  ? Combine::conjunction
                               : a.has("or") ? Combine::disjunction
                                             : Combine::exclusive);
  a.op.c = a.predicate(3);
  if (a.has("and")) a.op.flow = Flow::compares_and;
  if (a.has("or")) a.op.flow = Flow::compares_or;
}

void build_set(Assembler& a) {
  const Type to = a.type(0), type = a.type(1);
  const char kind = ptx::name_of(type)[0];
  if ((a.has("lo") || a.has("ls") || a.has("hi") || a.has("hs")) && kind != 'u')
    a.refuse("lo, ls, hi and hs compare unsigned integers");
  if ((a.has("lt") || a.has("le") || a.has("gt") || a.has("ge")) && kind == 'b') a.refuse("bits have no order");
  a.computes(do_set);
  a.op.compare = compare_of(a, type);
  a.op.immediate = to == Type::f32 ? 0x3f800000U : ~u32{0};
  a.op.d = a.destination(0, to);
  a.op.a = a.source(1, type);
  a.op.b = a.source(2, type);
}

void build_selp(Assembler& a) {
  a.computes(do_select, Flow::selects);
  a.op.d = a.destination(0, a.type());
  a.op.a = a.source(1, a.type());
  a.op.b = a.source(2, a.type());
  a.op.c = a.predicate(3);
}

void build_testp(Assembler& a) {
  static constexpr std::string_view kKinds[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  a.computes(do_testp);
  a.op.type = a.type();
  for (u16 i = 0; i < 6; ++i) {
    if (a.has(kKinds[i])) a.op.kind = i;
  }
  a.op.d = a.predicate_destination(0);
  a.op.a = a.source(1, a.type());
}

void build_vector_move(Assembler& a) {
  const bool pack = a.operand(1).kind == Operand::Kind::vector;
  const auto& parts = a.operand(pack ? 1 : 0).parts;
  const Type type = a.type();
  if (parts.size() != 2 && parts.size() != 4 && parts.size() != 8) a.refuse("a vector of {} elements", parts.size());
  const int bits = ptx::bits_of(type) / static_cast<int>(parts.size());
  const Type part = bits == 64 ? Type::b64 : bits == 32 ? Type::b32 : bits == 16 ? Type::b16 : Type::b8;
  a.op.type = type;
  a.computes(pack ? do_pack : do_unpack);
  a.op.writes_list = !pack;
  for (const Operand& operand : parts)
    a.op.list.push_back(pack ? a.source(operand, part) : a.destination(operand, part));
  if (pack) {
    a.op.d = a.destination(0, type);
  } else {
    a.op.a = a.source(1, type);
  }
}

void build_mov(Assembler& a) {
  const Type type = a.type();
  if (a.operand(0).kind == Operand::Kind::vector || a.operand(1).kind == Operand::Kind::vector)
    return build_vector_move(a);
  if (type == Type::pred) {
    a.computes(do_logic);
    a.op.kind = static_cast<u16>(Logic::copy);
    a.op.d = a.predicate_destination(0);
    a.op.a = a.predicate(1);
    return;
  }
  const Operand& from = a.operand(1);
  const bool special = from.kind == Operand::Kind::symbol && special_register(from.name).changes;
  a.op.d = a.destination(0, type);
  if (special) {
    a.computes(do_special);
    return;
  }
  a.op.a = a.source(1, type);
  a.computes(type == Type::b128 ? do_move_wide : do_lanes);
  if (type != Type::b128) a.op.lanes = find_lanes(fmt::format("mov_u{}", ptx::bits_of(type)));
}

using enum Rule::Kind;
constexpr Rule kComparisons[] = {
    {"lo|ls|hi|hs", needs, "u16|u32|u64"},
    {"lt|le|gt|ge", excludes, "b16|b32|b64"},
    {"ftz", needs, "f16|f32"},
};

constexpr Form kForms[] = {
    {"and pred|b16|b32|b64", "dss", Needs::any, build_bitwise},
    {"or pred|b16|b32|b64", "dss", Needs::any, build_bitwise},
    {"xor pred|b16|b32|b64", "dss", Needs::any, build_bitwise},
    {"not pred|b16|b32|b64", "ds", Needs::any, build_bitwise},
    {"cnot b16|b32|b64", "ds", Needs::any, build_bitwise},
    {"shl b16|b32|b64", "dss", Needs::any, build_shift},
    {"shr b16|b32|b64|u16|u32|u64|s16|s32|s64", "dss", Needs::any, build_shift},
    {"shf l|r wrap|clamp b32", "dsss", Needs::any, build_shf},
    {"lop3 b32", "dsssi", Needs::any, build_lop3},
    {"prmt b32 ?f4e|b4e|rc8|ecl|ecr|rc16", "dsss", Needs::any, build_prmt},
    {"bfe u32|s32|u64|s64", "dsss", Needs::any, build_bfe},
    {"bfi b32|b64", "dssss", Needs::any, build_bfi},
    {"popc b32|b64", "ds", Needs::any, build_count},
    {"clz b32|b64", "ds", Needs::any, build_count},
    {"bfind ?shiftamt u32|s32|u64|s64", "ds", Needs::any, build_count},
    {"fns b32", "dsss", Needs::any, build_find_nth_set},
    {"brev b32|b64", "ds", Needs::any, build_brev},
    {"setp eq|ne|lt|le|gt|ge|lo|ls|hi|hs ?and|or|xor b16|b32|b64|u16|u32|u64|s16|s32|s64", "qssP?", Needs::any,
     build_setp, kComparisons},
    {"setp eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor ?ftz f16|bf16|f32|f64", "qssP?", Needs::any,
     build_setp, kComparisons},
    {"set eq|ne|lt|le|gt|ge|lo|ls|hi|hs u32|s32|f32 b32|u32|s32|b64|u64|s64|f32|f64", "dss", Needs::any, build_set},
    {"selp b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "dssP", Needs::any, build_selp},
    {"testp finite|infinite|number|notanumber|normal|subnormal f32|f64", "ds", Needs::any, build_testp},
    {"mov pred|b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64", "vv", Needs::any, build_mov},
};

}  // namespace

std::span<const Form> logic_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
