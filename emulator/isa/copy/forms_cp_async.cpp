// Non-bulk copies and asynchronous stores to other blocks. PTX ISA 9.0, "cp.async", "st.async", "red.async".
#include <map>

#include "emulator/decode/assembler.h"
#include "emulator/isa/copy/cp_async.h"
#include "emulator/isa/copy/handlers_copy.h"
#include "emulator/isa/families.h"
#include "emulator/machine/atomic.h"

namespace tma_jit::emulator::isa {
namespace {

using ptx::Operand;
using ptx::Type;

AddressOperand address_operand(Assembler& a, std::size_t i) {
  AddressOperand address;
  address.base = a.address(a.operand(i), address.offset);
  return address;
}

// [shared], [global], bytes [, bytes read | ignore] [, policy]
void build_cp_async(Assembler& a) {
  auto form = std::make_shared<CopyForm>();
  form->destination = address_operand(a, 0);
  form->source = address_operand(a, 1);
  a.op.immediate = a.immediate(2);
  const bool cached = a.has("ca");
  if (a.op.immediate != 16 && (!cached || (a.op.immediate != 4 && a.op.immediate != 8))) {
    a.refuse("{} bytes; .cg takes 16, .ca 4, 8 or 16", a.op.immediate);
  }
  std::size_t last = a.count();
  if (a.has("L2::cache_hint")) a.source(--last, Type::b64);
  if (last > 3) {
    if (a.is_predicate(a.operand(3))) {
      form->ignores = a.predicate(3);
    } else {
      form->size = a.source(3, Type::u32);
    }
  }
  a.op.handler = do_cp_async;
  a.op.data = std::move(form);
}

void build_cp_async_commit(Assembler& a) {
  a.op.handler = do_cp_async_commit;
  a.op.ends_delays = true;
}

void build_cp_async_wait(Assembler& a) {
  a.op.handler = do_cp_async_wait;
  a.op.ends_delays = true;
  a.op.kind = a.has("wait_all") ? 1 : 0;
  if (a.count() > 0) a.op.immediate = a.immediate(0);
}

void build_cp_async_arrive(Assembler& a) {
  a.op.handler = do_cp_async_arrive;
  a.op.ends_delays = true;
  a.op.kind = a.has("noinc") ? 1 : 0;
  a.address(0);
}

// [remote], value, [barrier]
void build_st_async(Assembler& a) {
  static const std::map<std::string_view, Atomic> kinds = {
      {"add", Atomic::add}, {"min", Atomic::min},         {"max", Atomic::max},        {"inc", Atomic::inc},
      {"dec", Atomic::dec}, {"and", Atomic::conjunction}, {"or", Atomic::disjunction}, {"xor", Atomic::exclusive}};
  auto form = std::make_shared<CopyForm>();
  form->destination = address_operand(a, 0);
  form->barrier = address_operand(a, 2);
  a.op.type = a.type();
  for (const auto& [name, kind] : kinds) {
    if (a.has(name)) a.op.kind = static_cast<u16>(static_cast<u16>(kind) + 1);
  }
  if (a.operand(1).kind == Operand::Kind::vector) {
    for (const Operand& part : a.operand(1).parts) a.op.list.push_back(a.source(part, a.op.type));
  } else {
    a.op.list.push_back(a.source(1, a.op.type));
  }
  if (a.op.list.size() != static_cast<std::size_t>(a.vector())) a.refuse("{} values", a.op.list.size());
  a.op.handler = do_st_async;
  a.op.data = std::move(form);
}

using enum Rule::Kind;
constexpr Rule kRemoteStores[] = {{"v4", excludes, "b64|u64|s64|f64"}};
constexpr Rule kRemoteReductions[] = {
    {"add", needs, "u32|s32|u64"},
    {"min|max", needs, "u32|s32"},
    {"inc|dec", needs, "u32"},
    {"and|or|xor", needs, "b32"},
};

constexpr Form kForms[] = {
    {"cp async ca|cg shared|shared::cta global ?L2::cache_hint ?L2::64B|L2::128B|L2::256B", "aais?s?", Needs::sm_80,
     build_cp_async},
    {"cp async commit_group", "", Needs::sm_80, build_cp_async_commit},
    {"cp async wait_group", "i", Needs::sm_80, build_cp_async_wait},
    {"cp async wait_all", "", Needs::sm_80, build_cp_async_wait},
    {"cp async mbarrier arrive ?noinc ?shared|shared::cta b64", "a", Needs::sm_80, build_cp_async_arrive},
    {"st async ?weak shared::cluster mbarrier::complete_tx::bytes ?v2|v4 b32|b64|u32|u64|s32|s64|f32|f64", "ava",
     Needs::sm_90, build_st_async, kRemoteStores},
    {"red async relaxed cluster shared::cluster mbarrier::complete_tx::bytes add|min|max|inc|dec|and|or|xor "
     "u32|s32|u64|b32",
     "asa", Needs::sm_90, build_st_async, kRemoteReductions},
};

}  // namespace

std::span<const Form> cp_async_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
