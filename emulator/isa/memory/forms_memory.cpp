// Loads, stores, atomics, address conversion and fences of the generic proxy. PTX ISA 9.0, "ld", "st", "atom", "red",
// "cvta", "isspacep", "membar / fence", "prefetch".
#include <map>

#include "emulator/decode/assembler.h"
#include "emulator/decode/frame.h"
#include "emulator/isa/families.h"
#include "emulator/isa/memory/handlers_memory.h"
#include "emulator/machine/control.h"

namespace tma_jit::emulator::isa {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

Ordering ordering_of(const Assembler& a) {
  if (a.has("acq_rel")) return Ordering::acquire_release;
  if (a.has("acquire")) return Ordering::acquire;
  if (a.has("release")) return Ordering::release;
  if (a.has("relaxed") || a.has("volatile") || a.has("mmio")) return Ordering::relaxed;
  return Ordering::weak;
}

// Returns the space of an address in .param: a .param variable of a call is in local memory, and a parameter of the
// kernel is in the parameter block, which has a global address.
Space space_of(Assembler& a, const Operand& address) {
  const Space space = a.space();
  if (space == Space::constant) return Space::global;
  if (space != Space::param) return space;
  const Operand& base = address.parts.front();
  // A register may point to the kernel's parameters, or to those of the function that contains the instruction.
  if (base.kind == Operand::Kind::reg) return a.frame().function().entry ? Space::global : Space::local;
  const auto symbol = a.frame().symbol(base);
  if (!symbol) a.refuse("an address in .param that is no parameter");
  if (symbol->kind != decode::Symbol::Kind::local && a.mnemonic() == "st")
    a.refuse("parameters of a kernel can only be read");
  return symbol->kind == decode::Symbol::Kind::local ? Space::local : Space::global;
}

// Decodes the elements of a vector, or a single register.
void elements(Assembler& a, const Operand& operand, Type type, bool load) {
  const auto add = [&](const Operand& element) {
    a.op.list.push_back(load ? a.wide_destination(element, type) : a.wide_source(element, type));
  };
  if (operand.kind == Operand::Kind::vector) {
    for (const Operand& element : operand.parts) add(element);
  } else {
    add(operand);
  }
  if (a.op.list.size() != a.op.vector) a.refuse("{} registers for {} elements", a.op.list.size(), a.op.vector);
}

// Vectors of 32 bytes have four elements of 8 bytes or eight of 4, are in global memory, and require sm_100.
void check_size(const Assembler& a) {
  const int element = ptx::size_of(a.op.type), bytes = element * a.op.vector;
  const bool wide = bytes == 32 && (element == 4 || element == 8) && a.mnemonic() != "ldu";
  if (bytes > 16 && !wide) a.refuse("an access of {} bytes", bytes);
  if (a.op.vector == 8 && !wide) a.refuse("eight elements of {} bytes", element);
  if (wide && !a.target_has(Needs::sm_100)) a.refuse("an access of 32 bytes needs {}", description_of(Needs::sm_100));
  if (wide && a.space() != Space::generic && a.space() != Space::global)
    a.refuse("an access of 32 bytes is one of global memory");
  const bool prioritised = a.has("L2::evict_normal") || a.has("L2::evict_first") || a.has("L2::evict_last");
  if (prioritised && !wide) a.refuse("a priority of eviction from L2 goes with 32 bytes");
}

// A policy operand follows `operands` others if and only if .L2::cache_hint is present.
void check_hint(const Assembler& a, std::size_t operands) {
  if (a.has("L2::cache_hint") != (a.count() > operands)) a.refuse(".L2::cache_hint and a cache policy go together");
}

void build_access(Assembler& a) {
  const bool load = a.mnemonic() != "st";
  const std::size_t address = load ? 1 : 0;
  a.op.handler = load ? do_load : do_store;
  a.op.writes_list = load;
  a.op.type = a.type();
  a.op.vector = static_cast<u8>(a.vector());
  a.op.kind = static_cast<u16>(ordering_of(a));
  a.op.space = space_of(a, a.operand(address));
  check_size(a);
  check_hint(a, 2);
  a.address(address);
  elements(a, a.operand(1 - address), a.op.type, load);
}

// Decodes what all atomics and reductions share; operand `at` is the address.
void build_atomic_common(Assembler& a, std::size_t at) {
  static const std::map<std::string_view, Atomic> kinds = {
      {"add", Atomic::add},        {"min", Atomic::min},
      {"max", Atomic::max},        {"inc", Atomic::inc},
      {"dec", Atomic::dec},        {"and", Atomic::conjunction},
      {"or", Atomic::disjunction}, {"xor", Atomic::exclusive},
      {"exch", Atomic::exchange},  {"cas", Atomic::compare_exchange}};
  a.op.handler = do_atomic;
  a.op.type = a.type();
  for (const auto& [name, kind] : kinds) {
    if (a.has(name)) a.op.immediate = static_cast<u64>(kind);
  }
  const Ordering ordering = ordering_of(a);
  a.op.kind = static_cast<u16>(ordering == Ordering::weak ? Ordering::relaxed : ordering);
  a.op.space = a.space();
  a.address(at);
}

// A vector of at most 16 bytes, each element of which is atomic by itself.
void build_atomic_vector(Assembler& a) {
  const bool returns = a.mnemonic() == "atom";
  const std::size_t at = returns ? 1 : 0;
  build_atomic_common(a, at);
  a.op.vector = static_cast<u8>(a.vector());
  if (ptx::size_of(a.op.type) * a.op.vector > 16) a.refuse("{} elements", a.op.vector);
  check_hint(a, at + 2);
  const auto parts = [&](const Operand& operand) -> const std::vector<Operand>& {
    if (operand.kind != Operand::Kind::vector || operand.parts.size() != a.op.vector)
      a.refuse("the operands are vectors of {}", a.op.vector);
    return operand.parts;
  };
  if (returns) {
    for (const Operand& part : parts(a.operand(0))) a.op.coordinates.push_back(a.destination(part, a.op.type));
  }
  for (const Operand& part : parts(a.operand(at + 1))) a.op.list.push_back(a.source(part, a.op.type));
  a.op.handler = do_atomic_vector;
}

void build_atomic(Assembler& a) {
  const bool returns = a.mnemonic() == "atom";
  const std::size_t at = returns ? 1 : 0;
  build_atomic_common(a, at);
  if (returns) a.op.d = a.destination(0, a.op.type);
  a.op.b = a.source(at + 1, a.op.type);
  const bool exchange = a.op.immediate == static_cast<u64>(Atomic::compare_exchange);
  if (exchange != (a.count() > at + 2)) a.refuse("only cas takes a third value");
  if (exchange) a.op.c = a.source(at + 2, a.op.type);
}

// exch and cas of 16 bytes.
void build_atomic_wide(Assembler& a) {
  build_atomic(a);
  a.op.handler = do_atomic_wide;
}

void build_cvta(Assembler& a) {
  a.op.handler = do_convert_address;
  a.op.space = a.space();
  a.op.kind = a.has("to") ? 1 : 0;
  a.op.d = a.destination(0, a.type());
  a.op.a = a.source(1, a.type());
}

void build_isspacep(Assembler& a) {
  a.op.handler = do_is_space;
  a.op.space = a.space();
  a.op.d = a.predicate_destination(0);
  a.op.a = a.source(1, Type::b64);
}

void build_fence(Assembler& a) {
  a.op.handler = do_fence;
}

void build_nop(Assembler& a) {
  a.op.handler = do_nop;
}

// The immediate is the size of a cache line.
void build_line(Assembler& a) {
  if (a.immediate(1) != 128) a.refuse("{} bytes; it takes 128", a.immediate(1));
  build_nop(a);
}

using enum Rule::Kind;
constexpr std::string_view kScopes = "cta|cluster|gpu|sys";
constexpr std::string_view kNoGlobal = "shared|shared::cta|shared::cluster|local|param|const|param::entry|param::func";
constexpr std::string_view kPriorities =
    "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate";
constexpr std::string_view kHalves = "f16|f16x2|bf16|bf16x2";

constexpr Rule kLoads[] = {
    {"relaxed|acquire", needs, kScopes},
    {kScopes, needs, "relaxed|acquire"},
    {"relaxed|acquire|volatile", excludes, "local|param|const|param::entry|param::func"},
    {"mmio", needs, "relaxed"},
    {"mmio", needs, "sys"},
    {"mmio", excludes, "v2|v4|v8|L2::64B|L2::128B|L2::256B"},
    {"mmio", excludes, kNoGlobal},
    {"ca|cg|cs|lu|cv", excludes, "relaxed|acquire|volatile|mmio"},
    {"nc", needs, "global"},
    {"nc", excludes, "weak|relaxed|acquire|volatile|mmio"},
    {kPriorities, excludes, "ca|cg|cs|lu|cv|mmio|volatile"},
    {kPriorities, excludes, kNoGlobal},
    {"L2::64B|L2::128B|L2::256B", excludes, kNoGlobal},
    {"L2::cache_hint", excludes, kNoGlobal},
    {"L2::cache_hint", excludes, "volatile|mmio"},
};
constexpr Rule kStores[] = {
    {"relaxed|release", needs, kScopes},
    {kScopes, needs, "relaxed|release"},
    {"relaxed|release|volatile", excludes, "local"},
    {"mmio", needs, "relaxed"},
    {"mmio", needs, "sys"},
    {"mmio", excludes, "v2|v4|v8"},
    {"mmio", excludes, kNoGlobal},
    {"wb|cg|cs|wt", excludes, "relaxed|release|volatile|mmio"},
    {kPriorities, excludes, "wb|cg|cs|wt|mmio|volatile"},
    {kPriorities, excludes, kNoGlobal},
    {"L2::cache_hint", excludes, kNoGlobal},
    {"L2::cache_hint", excludes, "volatile|mmio"},
};
constexpr Rule kAtomics[] = {
    {"add", needs, "u32|s32|u64|f32|f64|f16|f16x2|bf16|bf16x2"},
    {"min|max", needs, "u32|s32|u64|s64"},
    {"inc|dec", needs, "u32"},
    {"and|or|xor|exch", needs, "b32|b64"},
    {"cas", needs, "b16|b32|b64"},
    {"noftz", needs, kHalves},
    {kHalves, needs, "noftz"},
};
constexpr Rule kVectorAtomics[] = {
    {"f32", excludes, "min|max|noftz"},
    {kHalves, needs, "noftz"},
};

constexpr Form kForms[] = {
    {"ld ?mmio ?weak|volatile|relaxed|acquire ?cta|cluster|gpu|sys "
     "?global|shared|shared::cta|shared::cluster|local|param|const|param::entry|param::func "
     "?ca|cg|cs|lu|cv|nc ?L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate "
     "?L2::evict_normal|L2::evict_first|L2::evict_last ?L2::64B|L2::128B|L2::256B ?L2::cache_hint ?v2|v4|v8 "
     "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64",
     "vas?", Needs::any, build_access, kLoads},
    {"ldu ?global ?v2|v4 b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64", "va", Needs::any, build_access},
    {"st ?mmio ?weak|volatile|relaxed|release ?cta|cluster|gpu|sys "
     "?global|shared|shared::cta|shared::cluster|local|param|param::func "
     "?wb|cg|cs|wt ?L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate "
     "?L2::evict_normal|L2::evict_first|L2::evict_last ?L2::cache_hint ?v2|v4|v8 "
     "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64",
     "avs?", Needs::any, build_access, kStores},
    {"atom ?relaxed|acquire|release|acq_rel ?cta|cluster|gpu|sys ?global|shared|shared::cta|shared::cluster "
     "add|min|max|inc|dec|and|or|xor|exch|cas ?noftz b16|b32|b64|u32|u64|s32|s64|f32|f64|f16|f16x2|bf16|bf16x2",
     "dass?", Needs::any, build_atomic, kAtomics},
    {"atom ?relaxed|acquire|release|acq_rel ?cta|cluster|gpu|sys ?global|shared|shared::cta|shared::cluster exch|cas "
     "b128",
     "dass?", Needs::sm_90, build_atomic_wide},
    {"red ?relaxed|release ?cta|cluster|gpu|sys ?global|shared|shared::cta|shared::cluster "
     "add|min|max|inc|dec|and|or|xor ?noftz b32|b64|u32|u64|s32|s64|f32|f64|f16|f16x2|bf16|bf16x2",
     "as", Needs::any, build_atomic, kAtomics},
    {"atom ?relaxed|acquire|release|acq_rel ?cta|cluster|gpu|sys global add|min|max ?noftz ?L2::cache_hint v2|v4|v8 "
     "f32|f16|f16x2|bf16|bf16x2",
     "vavs?", Needs::sm_90, build_atomic_vector, kVectorAtomics},
    {"red ?relaxed|release ?cta|cluster|gpu|sys global add|min|max ?noftz ?L2::cache_hint v2|v4|v8 "
     "f32|f16|f16x2|bf16|bf16x2",
     "avs?", Needs::sm_90, build_atomic_vector, kVectorAtomics},
    {"cvta ?to global|shared|local|const|param|shared::cta|shared::cluster u64", "ds", Needs::any, build_cvta},
    {"isspacep global|shared|local|shared::cta|shared::cluster", "ds", Needs::any, build_isspacep},
    {"membar cta|gl|sys", "", Needs::any, build_fence},
    {"fence ?sc|acq_rel|acquire|release cta|cluster|gpu|sys", "", Needs::any, build_fence},
    {"prefetch ?global|local L1|L2", "a", Needs::any, build_nop},
    {"prefetch global L2::evict_last|L2::evict_normal", "a", Needs::any, build_nop},
    {"prefetchu L1", "a", Needs::any, build_nop},
    {"applypriority ?global L2::evict_normal", "ai", Needs::any, build_line},
    {"discard ?global L2", "ai", Needs::any, build_line},
};

}  // namespace

std::span<const Form> memory_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
