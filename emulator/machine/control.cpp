// Branches, exits, and barriers of threads.
#include <bit>
#include <cstring>

#include "emulator/fault.h"
#include "emulator/machine/control.h"
#include "emulator/machine/machine.h"

namespace tma_jit::emulator {
namespace {

// Returns the value of an operand that PTX requires to be equal in all active lanes.
u64 uniform(const Warp& warp, const RegisterRef& reg, Mask active, std::string_view what) {
  const u64 value = warp.lane(reg, std::countr_zero(active));
  for (Mask rest = active & (active - 1); rest != 0; rest &= rest - 1) {
    const u64 other = warp.lane(reg, std::countr_zero(rest));
    if (other != value) throw_fault(FaultKind::barrier, "lanes of a warp give {} {} and {}", what, value, other);
  }
  return value;
}

u32 expected_threads(Warp& warp, const Op& op, Mask active) {
  const u32 all = static_cast<u32>(warp.block().warps.size()) * kLanes;
  if (!op.b) return all;
  const u64 threads = uniform(warp, op.b, active, "thread counts");
  if (threads == 0 || threads % kLanes != 0 || threads > all) {
    throw_fault(FaultKind::barrier, "a barrier of {} threads; it takes a multiple of {} up to the block's {}", threads,
                kLanes, all);
  }
  return static_cast<u32>(threads);
}

void reduce(Warp& warp, const Op& op, NamedBarrier& barrier, Mask active) {
  if (op.kind < 2) return;
  const Mask holds = warp.predicate(op.c) & active;
  barrier.reduced_count += static_cast<u32>(std::popcount(holds));
  barrier.reduced_all = barrier.reduced_all && holds == active;
  barrier.reduced_any = barrier.reduced_any || holds != 0;
}

// Releases all subwarps that wait for the barrier, ordered after all arrivals.
void complete(Machine& machine, Block& block, NamedBarrier& barrier) {
  barrier.released = barrier.gathered;
  barrier.gathered.clear();
  barrier.arrived = 0;
  barrier.result_count = barrier.reduced_count;
  barrier.result_all = barrier.reduced_all;
  barrier.result_any = barrier.reduced_any;
  barrier.reduced_count = 0;
  barrier.reduced_all = true;
  barrier.reduced_any = false;
  ++barrier.phase;
  for (const auto& warp : block.warps) {
    for (const Subwarp& subwarp : warp->subwarps()) {
      if (subwarp.state == Subwarp::State::waiting && subwarp.token == &barrier) {
        warp->clock.acquire(barrier.released);
        warp->clock.tick();
        break;
      }
    }
  }
  machine.wake(&barrier);
}

void write_reduction(Warp& warp, const Op& op, const NamedBarrier& barrier, Mask active) {
  if (op.kind == 2) {
    u32 count[kLanes];
    std::fill(std::begin(count), std::end(count), barrier.result_count);
    warp.set(op.d, active, count);
  } else {
    warp.set_predicate(op.d, active, (op.kind == 3 ? barrier.result_all : barrier.result_any) ? kAllLanes : 0);
  }
}

// At an .aligned barrier a warp counts as 32 threads, even if some of its threads have exited.
void arrive(Warp& warp, const Op& op, NamedBarrier& barrier, u32 id, Mask active) {
  const u32 threads = expected_threads(warp, op, active);
  if (barrier.arrived != 0 && barrier.expected != threads) {
    throw_fault(FaultKind::barrier, "barrier {} is used with {} threads while a phase of {} threads is open", id,
                threads, barrier.expected);
  }
  barrier.expected = threads;
  barrier.arrived += op.convergence == Convergence::all ? kLanes : static_cast<u32>(std::popcount(active));
  if (barrier.arrived > threads) {
    throw_fault(FaultKind::barrier, "barrier {} has {} arrivals of {} threads", id, barrier.arrived, threads);
  }
  reduce(warp, op, barrier, active);
  warp.clock.release(barrier.gathered);
  warp.machine().progress();
}

}  // namespace

// A reduction executes twice: first it arrives and waits, then, when woken, it reads the result of the phase.
Step do_barrier(Warp& warp, const Op& op, Mask active) {
  const u64 id = uniform(warp, op.a, active, "barriers");
  Block& block = warp.block();
  if (id >= block.barriers.size())
    throw_fault(FaultKind::barrier, "barrier {}; a block has 0 to {}", id, block.barriers.size() - 1);
  NamedBarrier& barrier = block.barriers[id];
  const bool reduces = op.kind >= 2;
  const auto bit = static_cast<u16>(1U << id);
  if (reduces && (warp.reducing & bit) != 0) {
    warp.reducing = static_cast<u16>(warp.reducing & ~bit);
    write_reduction(warp, op, barrier, active);
    return Step::next;
  }
  arrive(warp, op, barrier, static_cast<u32>(id), active);
  const bool last = barrier.arrived == barrier.expected;
  if (op.kind == 1) {
    if (last) complete(warp.machine(), block, barrier);
    return Step::next;
  }
  if (last) {
    complete(warp.machine(), block, barrier);
    warp.clock.acquire(barrier.released);
    warp.clock.tick();
    if (reduces) write_reduction(warp, op, barrier, active);
    return Step::next;
  }
  if (reduces) warp.reducing = static_cast<u16>(warp.reducing | bit);
  return warp.wait_for(&barrier, reduces ? Step::wait : Step::pause);
}

Step do_branch(Warp& warp, const Op& op, Mask active) {
  warp.branch(op.target, active);
  return Step::moved;
}

Step do_exit(Warp& warp, const Op&, Mask active) {
  warp.exit(active);
  return Step::moved;
}

Step do_trap(Warp&, const Op&, Mask) {
  throw_fault(FaultKind::trap, "the kernel executed trap");
}

Step do_pause(Warp&, const Op&, Mask) {
  return Step::yield;
}

// Memory is sequentially consistent in the emulator. A fence only updates the clocks for the checkers.
Step do_fence(Warp& warp, const Op&, Mask) {
  warp.clock.fence();
  return Step::next;
}

Step do_nop(Warp&, const Op&, Mask) {
  return Step::next;
}

}  // namespace tma_jit::emulator
