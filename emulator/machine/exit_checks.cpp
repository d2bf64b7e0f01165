// What must be over when a warp or a block leaves.
#include <algorithm>

#include "emulator/fault.h"
#include "emulator/machine/copy_operation.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/mbarrier_ops.h"
#include "emulator/machine/tensor_memory.h"

namespace tma_jit::emulator {
namespace {

// What the warps of a warpgroup that has left must agree on: each has executed every setmaxnreg.
void check_register_exit(const Warp& warp) {
  const Block& block = warp.block();
  const std::size_t first = std::size_t{warp.index()} / kWarpsOfGroup * kWarpsOfGroup;
  const std::size_t end = std::min<std::size_t>(first + kWarpsOfGroup, block.warps.size());
  for (std::size_t i = first; i < end; ++i) {
    if (!block.warps[i]->exited()) return;
  }
  for (std::size_t i = first; i < end; ++i) {
    if (block.warps[i]->register_changes == warp.register_changes) continue;
    stop(FaultKind::registers, "of one warpgroup warp {} has executed {} setmaxnreg and warp {} {}", warp.index(),
         warp.register_changes, i, block.warps[i]->register_changes);
  }
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

}  // namespace tma_jit::emulator
