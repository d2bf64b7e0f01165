// Clusters, register pools, dependent grids and cache policies. PTX ISA 9.0, "barrier.cluster", "mapa", "getctarank",
// "setmaxnreg", "griddepcontrol", "createpolicy".
#include "emulator/decode/assembler.h"
#include "emulator/isa/cluster/handlers_cluster.h"
#include "emulator/isa/families.h"
#include "emulator/machine/control.h"

namespace tma_jit::emulator::isa {
namespace {

using ptx::Type;

void build_cluster_barrier(Assembler& a) {
  a.op.handler = a.has("arrive") ? do_cluster_arrive : do_cluster_wait;
  a.op.kind = a.has("relaxed") ? 1 : 0;
  if (a.has("aligned")) a.op.convergence = Convergence::all;
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
  a.op.convergence = Convergence::all;
  a.op.kind = a.has("inc") ? 1 : 0;
  a.op.immediate = a.immediate(0);
  if (a.op.immediate < 24 || a.op.immediate > 256 || a.op.immediate % 8 != 0) {
    a.refuse("{} registers; it takes a multiple of 8 from 24 to 256", a.op.immediate);
  }
}

void build_wait_for_launches(Assembler& a) {
  a.op.handler = do_wait_for_launches;
}

void build_nop(Assembler& a) {
  a.op.handler = do_nop;
}

// The value of a full policy is that of devices (the l2_policy probe compares them). The value of a fractional policy
// is not documented; it is another number. Loads and stores ignore policies in the emulator.
void build_policy(Assembler& a) {
  const std::string_view priority =
      a.instruction().modifiers.size() > 2 ? a.instruction().modifiers[a.has("global") ? 3 : 2] : "";
  a.op.immediate = priority == "L2::evict_first"  ? 0x12f0000000000000
                   : priority == "L2::evict_last" ? 0x14f0000000000000
                                                  : 0x16f0000000000000;
  a.op.handler = do_policy;
  a.op.d = a.destination(0, Type::b64);
  if (a.has("range")) {
    a.op.kind = 1;
    for (const std::size_t size : {2, 3}) a.source(size, Type::b32);
  } else if (a.count() > 1 && a.has("fractional")) {
    a.op.a = a.source(1, Type::f32);
  }
}

constexpr Form kForms[] = {
    {"barrier cluster arrive ?release|relaxed ?aligned", "", Needs::sm_90, build_cluster_barrier},
    {"barrier cluster wait ?acquire ?aligned", "", Needs::sm_90, build_cluster_barrier},
    {"mapa ?shared::cluster u32|u64", "dss", Needs::sm_90, build_mapa},
    {"getctarank ?shared::cluster u32|u64", "ds", Needs::sm_90, build_get_rank},
    {"setmaxnreg inc|dec sync aligned u32", "i", Needs::exact_90, build_set_registers},
    {"griddepcontrol wait", "", Needs::sm_90, build_wait_for_launches},
    {"griddepcontrol launch_dependents", "", Needs::sm_90, build_nop},
    {"createpolicy fractional L2::evict_first|L2::evict_last|L2::evict_normal|L2::evict_unchanged "
     "?L2::evict_first|L2::evict_unchanged b64",
     "ds?", Needs::sm_80, build_policy},
    {"createpolicy range ?global L2::evict_first|L2::evict_last|L2::evict_normal|L2::evict_unchanged "
     "?L2::evict_first|L2::evict_unchanged b64",
     "dass", Needs::sm_80, build_policy},
    {"createpolicy cvt L2 b64", "ds", Needs::sm_80, build_policy},
};

}  // namespace

std::span<const Form> cluster_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
