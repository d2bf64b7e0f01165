// Clusters, register pools, dependent grids, cache policies, cp.async and stores to other blocks. PTX ISA 9.0,
// "barrier.cluster", "mapa", "getctarank", "setmaxnreg", "griddepcontrol", "createpolicy", "cp.async", "st.async".
#include <map>

#include "emulator/async/copy.h"
#include "emulator/async/element_copy.h"
#include "emulator/decode/assembler.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/handlers_cluster.h"

namespace tma_jit::emulator::decode {
namespace {

using ptx::Operand;
using ptx::Type;

void build_cluster_barrier(Assembler& a) {
  a.op.handler = a.has("arrive") ? do_cluster_arrive : do_cluster_wait;
  a.op.kind = a.has("relaxed") ? 1 : 0;
  if (a.has("aligned")) a.op.meeting = Meeting::all;
}

void build_mapa(Assembler& a) {
  const Type type = a.type();
  a.op.handler = do_mapa;
  a.op.kind = a.has("shared::cluster") ? 0 : 1;
  a.op.d = a.destination(0, type);
  a.op.a = a.source(1, type);
  a.op.b = a.source(2, Type::u32);
}

void build_get_rank(Assembler& a) {
  a.op.handler = do_get_rank;
  a.op.d = a.destination(0, Type::u32);
  a.op.a = a.source(1, a.type());
}

void build_set_registers(Assembler& a) {
  a.op.handler = do_set_registers;
  a.op.meeting = Meeting::all;
  a.op.kind = a.has("inc") ? 1 : 0;
  a.op.immediate = a.immediate(0);
  if (a.op.immediate < 24 || a.op.immediate > 256 || a.op.immediate % 8 != 0) {
    a.refuse("{} registers; it takes a multiple of 8 from 24 to 256", a.op.immediate);
  }
}

void build_nothing(Assembler& a) {
  a.op.handler = do_nothing;
}

// A policy for the whole is the number that devices make (the l2_policy probe compares them); what one for a part is
// nobody knows, so it is some other number. Loads and stores do not look at it here.
void build_policy(Assembler& a) {
  const std::string_view priority =
      a.instruction().modifiers.size() > 2 ? a.instruction().modifiers[a.has("global") ? 3 : 2] : "";
  a.op.immediate = priority == "L2::evict_first"  ? 0x12f0000000000000
                   : priority == "L2::evict_last" ? 0x14f0000000000000
                                                  : 0x16f0000000000000;
  a.op.handler = do_policy;
  a.op.d = a.destination(0, Type::b64);
  if (a.has("range"))
    a.op.kind = 1;
  else if (a.count() > 1 && a.has("fractional"))
    a.op.a = a.source(1, Type::f32);
}

AddressOperand address_operand(Assembler& a, std::size_t i) {
  AddressOperand address;
  address.base = a.address(a.operand(i), address.offset);
  return address;
}

// [shared], [global], bytes [, bytes read | ignore] [, policy]
void build_element_copy(Assembler& a) {
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
    if (a.is_predicate(a.operand(3)))
      form->ignores = a.predicate(3);
    else
      form->size = a.source(3, Type::u32);
  }
  a.op.handler = do_element_copy;
  a.op.data = std::move(form);
}

void build_element_commit(Assembler& a) {
  a.op.handler = do_element_commit;
  a.op.gathers = true;
}

void build_element_wait(Assembler& a) {
  a.op.handler = do_element_wait;
  a.op.gathers = true;
  a.op.kind = a.has("wait_all") ? 1 : 0;
  if (a.count() > 0) a.op.immediate = a.immediate(0);
}

void build_element_arrive(Assembler& a) {
  a.op.handler = do_element_arrive;
  a.op.gathers = true;
  a.op.kind = a.has("noinc") ? 1 : 0;
  a.address(0);
}

// [remote], value, [barrier]
void build_remote_store(Assembler& a) {
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
  a.op.handler = do_remote_store;
  a.op.data = std::move(form);
}

constexpr Form kForms[] = {
    {"barrier cluster arrive ?release|relaxed ?aligned", "", Needs::sm_90, build_cluster_barrier},
    {"barrier cluster wait ?acquire ?aligned", "", Needs::sm_90, build_cluster_barrier},
    {"mapa ?shared::cluster u32|u64", "dss", Needs::sm_90, build_mapa},
    {"getctarank ?shared::cluster u32|u64", "ds", Needs::sm_90, build_get_rank},
    {"setmaxnreg inc|dec sync aligned u32", "i", Needs::exact_90, build_set_registers},
    {"griddepcontrol wait|launch_dependents", "", Needs::sm_90, build_nothing},
    {"createpolicy fractional L2::evict_first|L2::evict_last|L2::evict_normal|L2::evict_unchanged "
     "?L2::evict_first|L2::evict_unchanged b64",
     "ds?", Needs::sm_80, build_policy},
    {"createpolicy range ?global L2::evict_first|L2::evict_last|L2::evict_normal|L2::evict_unchanged "
     "?L2::evict_first|L2::evict_unchanged b64",
     "dass", Needs::sm_80, build_policy},
    {"createpolicy cvt L2 b64", "ds", Needs::sm_80, build_policy},
    {"cp async ca|cg shared|shared::cta global ?L2::cache_hint ?L2::64B|L2::128B|L2::256B", "aais?s?", Needs::sm_80,
     build_element_copy},
    {"cp async commit_group", "", Needs::sm_80, build_element_commit},
    {"cp async wait_group", "i", Needs::sm_80, build_element_wait},
    {"cp async wait_all", "", Needs::sm_80, build_element_wait},
    {"cp async mbarrier arrive ?noinc ?shared|shared::cta b64", "a", Needs::sm_80, build_element_arrive},
    {"st async ?weak shared::cluster mbarrier::complete_tx::bytes ?v2|v4 b32|b64|u32|u64|s32|s64|f32|f64", "ava",
     Needs::sm_90, build_remote_store},
    {"red async ?relaxed ?cluster shared::cluster mbarrier::complete_tx::bytes add|min|max|inc|dec|and|or|xor "
     "u32|s32|u64|b32|b64",
     "asa", Needs::sm_90, build_remote_store},
};

}  // namespace

std::span<const Form> cluster_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::decode
