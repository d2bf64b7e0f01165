#include "emulator/machine/mbarrier_ops.h"

#include "emulator/fault.h"
#include "emulator/machine/observer.h"

namespace tma_jit::emulator {
namespace {

std::string name_of(const MbarrierRef& at) {
  return fmt::format("the mbarrier at {:#x} of {}", at.offset, at.block->name());
}

// Completes the phase if neither arrivals nor bytes are pending.
void finish_phase(Machine& machine, const MbarrierRef& at) {
  Mbarrier& barrier = *at.barrier;
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  if (machine.observer() != nullptr) machine.observer()->completes_phase(*at.block, at.offset, barrier.phase);
  ++barrier.phase;
  barrier.polled_incomplete = false;
  barrier.pending = barrier.expected;
  barrier.released.join(barrier.gathered);
  barrier.gathered.clear();
  machine.wake(&barrier);
}

}  // namespace

u64 word_of(const Mbarrier& barrier) {
  constexpr u64 kArrivalsMask = (u64{1} << 20) - 1, kBytesMask = (u64{1} << 21) - 1;
  return u64{barrier.phase & 1U} << 63 | (-u64{barrier.pending} & kArrivalsMask) << 43 |
         (static_cast<u64>(-barrier.bytes) & kBytesMask) << 21 | (-u64{barrier.expected} & kArrivalsMask) << 1;
}

u64 token_of(const Mbarrier& barrier) {
  return word_of(barrier) >> 32 << 32;
}

MbarrierRef mbarrier_in(Machine& machine, Block& owner, u32 offset) {
  machine.shared_at(owner, offset, 8);
  if (offset % 8 != 0) throw_fault(FaultKind::alignment, "an mbarrier at {:#x}; it lies at a multiple of 8", offset);
  const auto found = owner.mbarriers.find(offset);
  if (found == owner.mbarriers.end()) {
    throw Fault{FaultKind::barrier,
                fmt::format("there is no live mbarrier at {:#x} of {}", offset, owner.name()),
                "initialise it (mbarrier.init), and let every user wait for that: a barrier after the init",
                {}};
  }
  return {&found->second, &owner, offset};
}

MbarrierRef mbarrier_at(Machine& machine, Block& from, u32 address) {
  const SharedSpan span = machine.shared(from, address, 8);
  return mbarrier_in(machine, *span.block, span.offset);
}

void check_initialised(Machine& machine, const MbarrierRef& at, const check::Clocks& user, bool engine) {
  if (!machine.settings().checks) return;
  const check::Stamp& init = at.barrier->initialised;
  if (!user.seen.covers(init) && !user.announced.covers(init)) {
    throw Fault{FaultKind::race, name_of(at) + " is used without being ordered after its init",
                "synchronise the threads between mbarrier.init and the first use",
                machine.describe(*at.block, init, "initialised")};
  }
  if (engine && !user.announced.covers(init)) {
    throw Fault{
        FaultKind::proxy,
        name_of(at) + " is used by the asynchronous proxy or by another block, and no fence made its init known there",
        "execute fence.mbarrier_init.release.cluster (or fence.proxy.async) after mbarrier.init and before the barrier",
        machine.describe(*at.block, init, "initialised")};
  }
}

void expect_tx(const MbarrierRef& at, u64 bytes) {
  Mbarrier& barrier = *at.barrier;
  barrier.bytes += static_cast<s64>(bytes);
  if (bytes > static_cast<u64>(Mbarrier::kMostBytes) || barrier.bytes > Mbarrier::kMostBytes) {
    throw_fault(FaultKind::barrier, "{} expects {} bytes; its count ends at {}", name_of(at), barrier.bytes,
                Mbarrier::kMostBytes);
  }
}

void arrive(Machine& machine, const MbarrierRef& at, u32 count, const check::Clocks& clocks) {
  Mbarrier& barrier = *at.barrier;
  if (count == 0 || count > barrier.pending) {
    throw Fault{FaultKind::barrier,
                fmt::format("{} arrivals at {}, of which phase {} waits for {} of {} more", count, name_of(at),
                            barrier.phase, barrier.pending, barrier.expected),
                "the count of mbarrier.init is the number of arrivals of one phase",
                {}};
  }
  barrier.gathered.join(clocks);
  barrier.pending -= count;
  machine.progress();
  finish_phase(machine, at);
}

void arrive_and_drop(Machine& machine, const MbarrierRef& at, u32 count, const check::Clocks& clocks) {
  if (count > at.barrier->expected) throw_fault(FaultKind::barrier, "{} threads drop out of {}", count, name_of(at));
  at.barrier->expected -= count;
  arrive(machine, at, count, clocks);
}

void complete_tx(Machine& machine, const MbarrierRef& at, u64 bytes, const check::Clocks& clocks) {
  Mbarrier& barrier = *at.barrier;
  barrier.gathered.join(clocks);
  if (barrier.channel != check::kNoActor) barrier.gathered.complete(barrier.channel, barrier.completions);
  barrier.bytes -= static_cast<s64>(bytes);
  if (barrier.bytes < -Mbarrier::kMostBytes) {
    throw_fault(FaultKind::barrier, "{} has been given {} bytes more than it expects", name_of(at), -barrier.bytes);
  }
  machine.progress();
  finish_phase(machine, at);
}

check::Stamp next_event(Machine& machine, const MbarrierRef& at, const Op* op) {
  Mbarrier& barrier = *at.barrier;
  if (barrier.channel == check::kNoActor) {
    barrier.channel = machine.new_channel(at.block->cluster(), fmt::format("an asynchronous copy on {}", name_of(at)));
  }
  return {barrier.channel, check::kManyLanes, check::Access::kAsync, ++barrier.completions, op};
}

}  // namespace tma_jit::emulator
