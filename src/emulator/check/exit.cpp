// What must be over when a warp or a block leaves, and registers that are not a warp's to touch yet.
#include "emulator/async/copy_operation.h"
#include "emulator/async/mbarrier_ops.h"
#include "emulator/exec/machine.h"
#include "emulator/fault.h"
#include "emulator/tcgen05/tensor_memory.h"

namespace tma_jit::emulator {

// A warning: devices were seen to keep the memory of a block that has left until such copies are done.
void Machine::warp_exited(Warp& warp) {
  for (const auto& [lane, groups] : warp.bulk_groups) {
    for (const auto& member : groups.members) {
      if (member.copy->waited) continue;
      return warn(
          fmt::format("lane {} leaves while a copy out of its block's shared memory may still read it: end with "
                      "cp.async.bulk.wait_group.read 0\n  the copy: {}",
                      lane, member.copy->op != nullptr ? place_of(*member.copy->op) : ""));
    }
  }
}

void Machine::check_exit(Block& block) {
  tcgen05::check_exit(block);
}

void async::check_landed(const Block& block) {
  for (const auto& [offset, barrier] : block.mbarriers) {
    if (barrier.bytes == 0 || barrier.given_up) continue;
    throw Fault{
        FaultKind::barrier,
        fmt::format("{} exits while its mbarrier at {:#x} still expects {} bytes", block.name(), offset, barrier.bytes),
        "every expect_tx needs copies that complete exactly as many bytes, waited for before the block leaves",
        {}};
  }
}

void Machine::check_in_flight(const Warp& warp, const Op& op) const {
  const auto refuse = [&](const Place& place) {
    if (place.bank != Place::registers || place.offset / 4 >= warp.in_flight.size()) return;
    if (warp.in_flight[place.offset / 4] == 0) return;
    throw Fault{FaultKind::in_flight,
                "an instruction uses a register that an asynchronous operation still owns",
                "wait for the operation first: wgmma.wait_group, or tcgen05.wait::ld",
                {}};
  };
  if (op.touches_in_flight) return;
  for (const Place& place : {op.d, op.a, op.b, op.c, op.e}) refuse(place);
  for (const Place& place : op.list) refuse(place);
  for (const Place& place : op.coordinates) refuse(place);
}

}  // namespace tma_jit::emulator
