// Cluster launch control. PTX ISA 9.0, "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel".
#include "emulator/decode/assembler.h"
#include "emulator/isa/families.h"
#include "emulator/isa/launch/launch_cancel.h"

namespace tma_jit::emulator::isa {
namespace {

using ptx::Operand;
using ptx::Type;

void build_try_cancel(Assembler& a) {
  a.op.handler = do_try_cancel;
  a.op.kind = a.has("multicast::cluster::all") ? 1 : 0;
  a.address(0);
  s64 offset = 0;
  a.op.b = a.address(a.operand(1), offset);
  a.op.immediate = static_cast<u64>(offset);
}

void build_is_cancelled(Assembler& a) {
  a.op.handler = do_query_cancel;
  a.op.d = a.predicate_destination(0);
  a.op.a = a.source(1, Type::b128);
}

void build_first_block(Assembler& a) {
  a.op.handler = do_query_cancel;
  a.op.kind = a.has("get_first_ctaid::x") ? 1 : a.has("get_first_ctaid::y") ? 2 : 3;
  a.op.d = a.destination(0, Type::b32);
  a.op.a = a.source(1, Type::b128);
}

void build_first_blocks(Assembler& a) {
  a.op.handler = do_query_cancel;
  a.op.kind = 4;
  if (a.operand(0).kind != Operand::Kind::vector || a.operand(0).parts.size() != 4)
    a.refuse("four registers are given");
  for (const Operand& part : a.operand(0).parts) a.op.list.push_back(a.destination(part, Type::b32));
  a.op.writes_list = true;
  a.op.a = a.source(1, Type::b128);
}

constexpr Form kForms[] = {
    {"clusterlaunchcontrol try_cancel async ?shared::cta mbarrier::complete_tx::bytes ?multicast::cluster::all b128",
     "aa", Needs::sm_100, build_try_cancel},
    {"clusterlaunchcontrol query_cancel is_canceled pred b128", "ps", Needs::sm_100, build_is_cancelled},
    {"clusterlaunchcontrol query_cancel get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z b32 b128", "ds",
     Needs::sm_100, build_first_block},
    {"clusterlaunchcontrol query_cancel get_first_ctaid v4 b32 b128", "vs", Needs::sm_100, build_first_blocks},
};

}  // namespace

std::span<const Form> launch_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
