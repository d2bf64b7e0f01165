#include "emulator/isa/matrix/handlers_wgmma.h"

#include <algorithm>

#include "emulator/fault.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/wgmma_operation.h"

namespace tma_jit::emulator::isa {
namespace {

Warpgroup& group_of(Warp& warp) {
  Block& block = warp.block();
  const std::size_t index = warp.index() / kWarpsOfGroup;
  if ((index + 1) * kWarpsOfGroup > block.warps.size()) {
    throw_fault(FaultKind::divergence, "wgmma in a warpgroup of {} warps", block.warps.size() - index * kWarpsOfGroup);
  }
  if (block.warpgroups.size() <= index) block.warpgroups.resize(index + 1);
  auto& group = block.warpgroups[index];
  if (group == nullptr) {
    group = std::make_unique<Warpgroup>();
    group->channel = warp.machine().new_channel(
        block.cluster(), fmt::format("wgmma of warps {} to {} of {}", 4 * index, 4 * index + 3, block.name()));
  }
  return *group;
}

void own(Warp& warp, const std::vector<RegisterRef>& refs, bool take) {
  if (warp.in_flight.empty()) warp.in_flight.resize(warp.machine().program().register_numbers(), 0);
  for (const RegisterRef& reg : refs) {
    if (reg.bank != RegisterRef::registers) continue;
    u32& owners = warp.in_flight[reg.number()];
    if (take) {
      if (owners++ == 0) ++warp.in_flight_count;
    } else if (--owners == 0) {
      --warp.in_flight_count;
    }
  }
}

// The first wgmma of a warp requires a fence before it. After that, ordinary writes to the accumulators or A since the
// last fence cause only a warning: compilers move such instructions across a fence that does not name the registers,
// and ptxas then orders them itself. A move preserves the age of its source.
void check_fence(Warp& warp, const std::vector<RegisterRef>& refs) {
  const WgmmaState& state = warp.wgmma;
  if (state.fence == 0) {
    throw Fault{FaultKind::in_flight,
                "the first wgmma of a warp comes before any wgmma.fence",
                "execute wgmma.fence.sync.aligned before the first wgmma, and after other instructions touched its "
                "accumulators or A",
                {}};
  }
  for (const RegisterRef& reg : refs) {
    if (reg.bank != RegisterRef::registers || reg.number() >= state.touched.size()) continue;
    if (state.touched[reg.number()] != state.fence + 1) continue;
    return warp.machine().warn("a register of wgmma was written by an ordinary instruction since the last wgmma.fence");
  }
}

matrix::Wgmma instance_of(const Warp& warp, const WgmmaForm& form) {
  matrix::Wgmma instruction = form.instruction;
  if (!instruction.a_in_registers) instruction.a_descriptor = warp.lane(form.a_descriptor, 0);
  instruction.b_descriptor = warp.lane(form.b_descriptor, 0);
  instruction.accumulate = (warp.predicate(form.accumulate) & 1U) != 0;
  return instruction;
}

void check_same(const WgmmaOperation& operation, const Op& op, const matrix::Wgmma& instruction, u32 group) {
  if (operation.op != &op)
    throw_fault(FaultKind::divergence, "the warps of a warpgroup issue different wgmma instructions");
  if (operation.instruction.a_descriptor != instruction.a_descriptor ||
      operation.instruction.b_descriptor != instruction.b_descriptor ||
      operation.instruction.accumulate != instruction.accumulate || operation.group != group) {
    throw Fault{FaultKind::divergence,
                "the warps of a warpgroup give one wgmma different operands",
                "descriptors, scale-d and commit groups are the same in all four warps",
                {}};
  }
}

}  // namespace

Step do_wgmma(Warp& warp, const Op& op, Mask) {
  const auto& form = static_cast<const WgmmaForm&>(*op.data);
  Warpgroup& group = group_of(warp);
  const matrix::Wgmma instruction = instance_of(warp, form);
  if (warp.machine().settings().checks) {
    check_fence(warp, instruction.accumulate ? form.d : std::vector<RegisterRef>{});
    check_fence(warp, form.a);
  }
  u32& issued = group.issued[warp.index() % kWarpsOfGroup];
  const u32 position = issued++ - group.complete;
  if (position == group.open.size()) {
    auto fresh = std::make_shared<WgmmaOperation>();
    fresh->instruction = instruction;
    fresh->form = &form;
    fresh->group = warp.wgmma.committed;
    fresh->warp = &warp;
    fresh->block = &warp.block();
    fresh->op = &op;
    fresh->stamp = {group.channel, check::kManyLanes, check::Access::kAsync, warp.wgmma.committed + 1, &op};
    group.open.push_back(fresh);
    warp.machine().async().submit(fresh, group.queue);
  }
  const std::shared_ptr<WgmmaOperation> operation = group.open[position];
  check_same(*operation, op, instruction, warp.wgmma.committed);
  operation->warps[warp.index() % kWarpsOfGroup] = &warp;
  if (warp.machine().settings().checks && !instruction.a_in_registers)
    operation->warp_clocks[warp.index() % kWarpsOfGroup] = warp.clock.clocks;
  if (operation->joined++ == 0) {
    operation->clocks = warp.clock.clocks;
  } else {
    operation->clocks.meet(warp.clock.clocks);
  }
  own(warp, form.d, true);
  own(warp, form.a, true);
  warp.wgmma.pending.push_back(operation);
  warp.clock.tick();
  if (operation->ready()) {
    group.open.pop_front();
    ++group.complete;
    warp.machine().async().notify_ready(group.queue);
  }
  return Step::next;
}

Step do_wgmma_fence(Warp& warp, const Op&, Mask) {
  ++warp.wgmma.fence;
  warp.clock.tick();
  return Step::next;
}

Step do_wgmma_commit(Warp& warp, const Op&, Mask) {
  ++warp.wgmma.committed;
  warp.clock.tick();
  return Step::next;
}

Step do_wgmma_wait(Warp& warp, const Op& op, Mask) {
  WgmmaState& state = warp.wgmma;
  const u32 done = state.committed > op.immediate ? state.committed - static_cast<u32>(op.immediate) : 0;
  for (const auto& operation : state.pending) {
    if (operation->group < done && !operation->done) return warp.wait_for(&state, Step::wait);
  }
  while (!state.pending.empty() && state.pending.front()->group < done) {
    own(warp, state.pending.front()->form->d, false);
    own(warp, state.pending.front()->form->a, false);
    state.pending.pop_front();
  }
  warp.clock.clocks.complete(group_of(warp).channel, done);
  warp.clock.tick();
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
