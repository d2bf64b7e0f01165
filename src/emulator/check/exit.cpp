// What must be over when a warp or a block leaves, and registers that are not a warp's to touch yet.
#include <algorithm>

#include "emulator/async/copy_operation.h"
#include "emulator/async/mbarrier_ops.h"
#include "emulator/exec/handlers_cluster.h"
#include "emulator/exec/machine.h"
#include "emulator/fault.h"
#include "emulator/tcgen05/tensor_memory.h"

namespace tma_jit::emulator {
namespace {

// The operation that owns a register; null where it is not known.
const Op* owner_of(const Warp& warp, u32 index) {
  const auto owns = [index](const Place& place) { return place.bank == Place::registers && place.number() == index; };
  for (const auto& operation : warp.wgmma.pending) {
    const WgmmaForm& form = *operation->form;
    if (std::ranges::any_of(form.d, owns) || std::ranges::any_of(form.a, owns)) return operation->op;
  }
  const auto& memory = warp.block().tensor_memory;
  return memory == nullptr ? nullptr : memory->load_of(warp, index);
}

}  // namespace

// Warnings: devices were seen to keep the memory of a block that has left until such copies are done, and nothing says
// what becomes of the copies themselves.
void Machine::block_exited(const Block& block) {
  for (const auto& operation : async_.loose()) {
    const auto* const copy = dynamic_cast<const async::LoadCopy*>(operation.get());
    if (copy == nullptr || copy->block != &block) continue;
    const bool alone = std::ranges::all_of(copy->targets, [&](const auto& target) { return target.block == &block; });
    if (alone && !copy->from_shared) continue;
    return warn(fmt::format(
        "{} leaves while {} is on its way: wait until the blocks that it goes to have it\n  the copy: {}", block.name(),
        copy->from_shared ? "a copy out of its shared memory" : "a copy that it issued into other blocks",
        place_of(*copy->op)));
  }
}

void Machine::warp_exited(Warp& warp) {
  check_register_exit(warp);
  if (warp.block().live_warps == 0) block_exited(warp.block());
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
    const Op* const op = barrier.expecting != nullptr ? barrier.expecting : barrier.initialised.op;
    throw Fault{
        FaultKind::barrier,
        fmt::format("{} exits while its mbarrier at {:#x} still expects {} bytes", block.name(), offset, barrier.bytes),
        "every expect_tx needs copies that complete exactly as many bytes, waited for before the block leaves",
        fmt::format("  {} at {}", barrier.expecting != nullptr ? "expected" : "initialised",
                    block.machine().place_of(*op))};
  }
}

void Machine::check_in_flight(const Warp& warp, const Op& op) const {
  const auto refuse = [&](const Place& place) {
    if (place.bank != Place::registers || place.number() >= warp.in_flight.size()) return;
    if (warp.in_flight[place.number()] == 0) return;
    const Op* const owner = owner_of(warp, place.number());
    throw Fault{FaultKind::in_flight, "an instruction uses a register that an asynchronous operation still owns",
                "wait for the operation first: wgmma.wait_group, or tcgen05.wait::ld",
                owner == nullptr ? "" : "  owned by the operation at " + place_of(*owner)};
  };
  if (op.touches_in_flight) return;
  for (const Place& place : {op.d, op.a, op.b, op.c, op.e}) refuse(place);
  for (const Place& place : op.list) refuse(place);
  for (const Place& place : op.coordinates) refuse(place);
}

}  // namespace tma_jit::emulator
