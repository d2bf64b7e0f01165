// Checks when a warp or a block exits.
#include <algorithm>

#include "emulator/fault.h"
#include "emulator/machine/copy_operation.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/mbarrier_ops.h"
#include "emulator/machine/tensor_memory.h"

namespace tma_jit::emulator {
namespace {

// Checks that all warps of a warpgroup have executed the same setmaxnreg instructions.
void check_register_exit(const Warp& warp) {
  const Block& block = warp.block();
  const std::size_t first = std::size_t{warp.index()} / kWarpsOfGroup * kWarpsOfGroup;
  const std::size_t end = std::min<std::size_t>(first + kWarpsOfGroup, block.warps.size());
  for (std::size_t i = first; i < end; ++i) {
    if (!block.warps[i]->exited()) return;
  }
  for (std::size_t i = first; i < end; ++i) {
    if (block.warps[i]->register_changes == warp.register_changes) continue;
    throw_fault(FaultKind::registers, "of one warpgroup warp {} has executed {} setmaxnreg and warp {} {}",
                warp.index(), warp.register_changes, i, block.warps[i]->register_changes);
  }
}

}  // namespace

// These are warnings only: devices have been observed to keep the memory of an exited block until such copies are done,
// and the PTX ISA does not specify the copies' effect.
void Machine::block_exited(const Block& block) {
  for (const auto& operation : async_.unordered()) {
    const auto* const copy = dynamic_cast<const MbarrierCopy*>(operation.get());
    if (copy == nullptr || copy->block != &block) continue;
    const bool alone = std::ranges::all_of(copy->targets, [&](const auto& target) { return target.block == &block; });
    if (alone && !copy->from_shared) continue;
    return warn(fmt::format(
        "{} leaves while {} is on its way: wait until the blocks that it goes to have it\n  the copy: {}", block.name(),
        copy->from_shared ? "a copy out of its shared memory" : "a copy that it issued into other blocks",
        location_of(*copy->op)));
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
                      lane, member.copy->op != nullptr ? location_of(*member.copy->op) : ""));
    }
  }
}

void Machine::check_exit(Block& block) {
  check_tensor_memory_freed(block);
}

void check_copies_complete(const Block& block) {
  for (const auto& [offset, barrier] : block.mbarriers) {
    if (barrier.bytes == 0 || barrier.polled_incomplete) continue;
    const Op* const op = barrier.expecting != nullptr ? barrier.expecting : barrier.initialised.op;
    throw Fault{
        FaultKind::barrier,
        fmt::format("{} exits while its mbarrier at {:#x} still expects {} bytes", block.name(), offset, barrier.bytes),
        "every expect_tx needs copies that complete exactly as many bytes, waited for before the block leaves",
        fmt::format("  {} at {}", barrier.expecting != nullptr ? "expected" : "initialised",
                    block.machine().location_of(*op))};
  }
}

}  // namespace tma_jit::emulator
