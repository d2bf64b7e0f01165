// Branches, exits and barriers. PTX ISA 9.0, "Control Flow Instructions", "brx.idx", "bar", "barrier".
#include "emulator/decode/assembler.h"
#include "emulator/isa/families.h"
#include "emulator/machine/branch_table.h"
#include "emulator/machine/control.h"

namespace tma_jit::emulator::isa {
namespace {

using ptx::Type;

void build_bra(Assembler& a) {
  a.op.handler = do_branch;
  a.op.kind = 1;  // the target is still an index of a PTX instruction
  a.op.target = a.operand(0).index;
}

void build_exit(Assembler& a) {
  a.op.handler = do_exit;
}

void build_trap(Assembler& a) {
  a.op.handler = do_trap;
}

void build_nanosleep(Assembler& a) {
  a.op.handler = do_pause;
  a.source(0, Type::u32);
}

void build_nop(Assembler& a) {
  a.op.handler = do_nop;
}

// bar is equivalent to barrier.aligned.
void align(Assembler& a) {
  if (a.mnemonic() == "bar" || a.has("aligned")) a.op.convergence = Convergence::all;
}

void build_barrier(Assembler& a) {
  align(a);
  a.op.handler = do_barrier;
  a.op.kind = a.has("arrive") ? 1 : 0;
  a.op.a = a.source(0, Type::u32);
  if (a.count() > 1) a.op.b = a.source(1, Type::u32);
}

// red d, a [, b], [!]c
void build_barrier_reduction(Assembler& a) {
  align(a);
  const bool counts = a.has("popc");
  a.op.handler = do_barrier;
  a.op.kind = counts ? 2 : a.has("and") ? 3 : 4;
  a.op.d = counts ? a.destination(0, Type::u32) : a.predicate_destination(0);
  a.op.a = a.source(1, Type::u32);
  if (a.count() > 3) a.op.b = a.source(2, Type::u32);
  a.op.c = a.predicate(a.count() - 1);
}

void build_branch_table(Assembler& a) {
  auto table = std::make_shared<BranchTable>();
  for (const ptx::Operand& label : a.operand(1).parts) table->targets.push_back(label.index);
  a.op.handler = do_branch_table;
  a.op.kind = 1;  // the targets are still indices of PTX instructions
  a.op.a = a.source(0, Type::u32);
  a.op.data = std::move(table);
}

constexpr Form kForms[] = {
    {"bra ?uni", "L", Needs::any, build_bra},
    {"ret ?uni", "", Needs::any, build_exit},
    {"exit", "", Needs::any, build_exit},
    {"trap", "", Needs::any, build_trap},
    {"brkpt", "", Needs::any, build_nop},
    {"pmevent ?mask", "i", Needs::any, build_nop},
    {"nanosleep u32", "s", Needs::any, build_nanosleep},
    {"bar ?cta sync", "ss?", Needs::any, build_barrier},
    {"bar ?cta arrive", "ss", Needs::any, build_barrier},
    {"bar ?cta red popc u32", "dsP", Needs::any, build_barrier_reduction},
    {"bar ?cta red popc u32", "dssP", Needs::any, build_barrier_reduction},
    {"bar ?cta red and|or pred", "dsP", Needs::any, build_barrier_reduction},
    {"bar ?cta red and|or pred", "dssP", Needs::any, build_barrier_reduction},
    {"barrier ?cta sync ?aligned", "ss?", Needs::any, build_barrier},
    {"barrier ?cta arrive ?aligned", "ss", Needs::any, build_barrier},
    {"barrier ?cta red popc ?aligned u32", "dsP", Needs::any, build_barrier_reduction},
    {"barrier ?cta red popc ?aligned u32", "dssP", Needs::any, build_barrier_reduction},
    {"barrier ?cta red and|or ?aligned pred", "dsP", Needs::any, build_barrier_reduction},
    {"barrier ?cta red and|or ?aligned pred", "dssP", Needs::any, build_barrier_reduction},
    {"brx idx ?uni", "sc", Needs::any, build_branch_table},
};

}  // namespace

std::span<const Form> control_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
