#include "emulator/isa/cluster/handlers_cluster.h"

#include <bit>

#include "emulator/fault.h"
#include "emulator/machine/address.h"
#include "emulator/machine/cluster_barrier.h"

namespace tma_jit::emulator::isa {
namespace {

constexpr u32 kRegisterFile = 65536;  // registers of an SM, on every target from sm_70 on

// Returns the registers that ptxas may give each thread so that one block fits.
u32 registers_at_launch(const Block& block) {
  const auto threads = static_cast<u32>(block.warps.size()) * kLanes;
  return std::min<u32>(kRegisterFile / threads / 8 * 8, 248);
}

// Returns the registers that the block was launched with, which setmaxnreg divides among its warps: 168 each for 384
// threads, 1024 fewer than the SM has.
u32 pool_of(const Block& block) {
  return registers_at_launch(block) * static_cast<u32>(block.warps.size()) * kLanes;
}

u32 limit_of(const Warp& warp) {
  return warp.register_limit != 0 ? warp.register_limit : registers_at_launch(warp.block());
}

u32 registers_in_use(const Block& block) {
  u32 used = 0;
  for (const auto& warp : block.warps) used += limit_of(*warp) * kLanes;
  return used;
}

// Checks that the warps of a warpgroup execute the same changes in the same order. PTX ISA 9.0, "setmaxnreg".
void check_register_change(Warp& warp, const Op& op, u32 wanted, u32 held) {
  auto& changes = warp.block().register_changes[warp.index() / kWarpsOfGroup];
  const std::pair change{op.kind == 1, wanted};
  if (warp.register_changes == changes.size()) changes.push_back(change);
  if (changes[warp.register_changes] != change) {
    throw_fault(FaultKind::registers, "warp {} asks for {} registers and another warp of its warpgroup for {}",
                warp.index(), wanted, changes[warp.register_changes].second);
  }
  if (op.kind == 0 && wanted > held)
    throw_fault(FaultKind::registers, "setmaxnreg.dec to {} registers in a warp that has at most {}", wanted, held);
  if (op.kind == 1 && warp.register_limit != 0 && wanted < held)
    throw_fault(FaultKind::registers, "setmaxnreg.inc to {} registers in a warp that has {}", wanted, held);
}

}  // namespace

Step do_cluster_arrive(Warp& warp, const Op& op, Mask active) {
  Cluster& cluster = warp.block().cluster();
  if ((warp.cluster_arrived & active) != 0 || (warp.cluster_waits & active) != 0) {
    throw_fault(FaultKind::barrier,
                "lanes {:#010x} arrive at the cluster's barrier again before they have waited for it",
                (warp.cluster_arrived | warp.cluster_waits) & active);
  }
  warp.cluster_arrived |= active;
  warp.cluster_waits |= active;
  warp.cluster_phase = cluster.barrier.phase;
  cluster.barrier.arrived += static_cast<u32>(std::popcount(active));
  if (op.kind == 1) {
    cluster.barrier.gathered.join(warp.clock.relaxed());
    warp.clock.tick();
  } else {
    warp.clock.release(cluster.barrier.gathered);
  }
  check_cluster_barrier(warp.machine(), cluster);
  return Step::next;
}

Step do_cluster_wait(Warp& warp, const Op& op, Mask active) {
  ClusterBarrier& barrier = warp.block().cluster().barrier;
  if ((warp.cluster_waits & active) != active) {
    throw_fault(FaultKind::barrier, "lanes {:#010x} wait for the cluster's barrier without having arrived at it",
                active & ~warp.cluster_waits);
  }
  if (barrier.phase == warp.cluster_phase) return warp.wait_for(&barrier, Step::wait);
  warp.cluster_waits &= ~active;
  if (op.kind == 1) {
    warp.clock.acquire_relaxed(barrier.released);
  } else {
    warp.clock.acquire(barrier.released);
  }
  warp.clock.tick();
  return Step::next;
}

Step do_wait_for_launches(Warp& warp, const Op&, Mask) {
  warp.clock.clocks.launches = true;
  return Step::next;
}

Step do_mapa(Warp& warp, const Op& op, Mask active) {
  const std::size_t blocks = warp.block().cluster().blocks.size();
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    const u64 rank = warp.lane(op.b, i), address = warp.lane(op.a, i);
    if (rank >= blocks) throw_fault(FaultKind::cluster, "mapa to block {} of a cluster of {}", rank, blocks);
    if (op.kind == 1 && !is_shared(address))
      throw_fault(FaultKind::bounds, "mapa of {:#x}, which is not in shared memory", address);
    const u64 window = op.kind == 1 ? kSharedWindow : 0;
    warp.set_lane(op.d, i, window | rank << kRankShift | (address & kOffsetMask));
  }
  return Step::next;
}

Step do_get_rank(Warp& warp, const Op& op, Mask active) {
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    warp.set_lane(op.d, i, static_cast<u32>(warp.lane(op.a, i)) >> kRankShift);
  }
  return Step::next;
}

Step do_policy(Warp& warp, const Op& op, Mask active) {
  constexpr u64 kOne = 0x3f800000;  // 1.0F
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    const u64 fraction = op.a ? warp.lane(op.a, i) : kOne;
    const bool whole = op.kind == 0 && fraction == kOne;
    warp.set_lane(op.d, i, whole ? op.immediate : op.immediate | 1U | fraction << 8);
  }
  return Step::next;
}

Step do_set_registers(Warp& warp, const Op& op, Mask) {
  Block& block = warp.block();
  const auto wanted = static_cast<u32>(op.immediate);
  const u32 held = limit_of(warp);
  if ((std::size_t{warp.index()} / kWarpsOfGroup + 1) * kWarpsOfGroup > block.warps.size()) {
    throw_fault(FaultKind::registers, "setmaxnreg in a warpgroup of fewer than {} warps", kWarpsOfGroup);
  }
  check_register_change(warp, op, wanted, held);
  if (op.kind == 1 && wanted > held && registers_in_use(block) + (wanted - held) * kLanes > pool_of(block)) {
    return warp.wait_for(&block.registers_released, Step::wait);
  }
  warp.register_limit = wanted;
  ++warp.register_changes;
  if (wanted < held) warp.machine().wake(&block.registers_released);
  warp.clock.tick();
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
