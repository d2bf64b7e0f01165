#include "emulator/isa/mbarrier/handlers_mbarrier.h"

#include <cstring>
#include <optional>

#include "emulator/fault.h"
#include "emulator/machine/address.h"
#include "emulator/machine/mbarrier_ops.h"

namespace tma_jit::emulator::isa {
namespace {

check::Stamp stamp_of(const Warp& warp, int lane, const Op& op) {
  return {warp.clock.id, static_cast<u8>(lane), check::Access::kStrong, warp.clock.now(), &op};
}

MbarrierRef barrier_of(Warp& warp, const Op& op, int lane) {
  const u64 address = warp.address(op, op.a, lane);
  if (op.space == ptx::Space::generic && !is_shared(address)) {
    throw_fault(FaultKind::bounds, "an mbarrier at {:#x}, which is not in shared memory", address);
  }
  return mbarrier_at(warp.machine(), warp.block(), static_cast<u32>(address));
}

bool complete(const Mbarrier& barrier, const MbarrierForm& form, u64 wanted) {
  return (barrier.phase & 1U) != (form.parity ? wanted & 1U : wanted >> 63);
}

}  // namespace

Step do_mbarrier_init(Warp& warp, const Op& op, Mask active) {
  Machine& machine = warp.machine();
  for_each(active, [&](int i) {
    const SharedSpan span = machine.shared(warp.block(), static_cast<u32>(warp.address(op, op.a, i)), 8);
    const u64 count = warp.lane(op.b, i);
    if (span.offset % 8 != 0)
      throw_fault(FaultKind::alignment, "an mbarrier at {:#x}; it lies at a multiple of 8", span.offset);
    if (span.block != &warp.block()) {
      throw_fault(FaultKind::cluster, "an mbarrier at {:#x} of {}; a block initialises only its own", span.offset,
                  span.block->name());
    }
    if (count == 0 || count > Mbarrier::kMostArrivals) {
      throw_fault(FaultKind::barrier, "an mbarrier for {} arrivals; it takes 1 to {}", count, Mbarrier::kMostArrivals);
    }
    if (span.block->mbarriers.contains(span.offset)) {
      throw Fault{FaultKind::barrier,
                  fmt::format("the mbarrier at {:#x} is live and is initialised again", span.offset),
                  "invalidate it first (mbarrier.inval), or initialise it in one thread only",
                  {}};
    }
    check::Stamp stamp = stamp_of(warp, i, op);
    stamp.flags = 0;
    machine.record_shared(span, 8, {true, stamp, &warp.clock.clocks, "mbarrier.init"});
    Mbarrier& barrier = span.block->mbarriers[span.offset];
    span.block->first_mbarrier = std::min(span.block->first_mbarrier, span.offset);
    span.block->end_of_mbarriers = std::max(span.block->end_of_mbarriers, span.offset + 8);
    barrier.expected = barrier.pending = static_cast<u32>(count);
    barrier.initialised = stamp;
    span.block->shadow.forget(span.offset, 8);  // a load of a live object reads no data
  });
  machine.progress();
  return Step::next;
}

Step do_mbarrier_inval(Warp& warp, const Op& op, Mask active) {
  for_each(active, [&](int i) {
    const MbarrierRef at = barrier_of(warp, op, i);
    check_initialised(warp.machine(), at, warp.clock.clocks, false);
    const u64 word = word_of(*at.barrier);
    const SharedSpan span = warp.machine().shared_at(*at.block, at.offset, sizeof word);
    warp.machine().record_shared(span, sizeof word,
                                 {true, stamp_of(warp, i, op), &warp.clock.clocks, "mbarrier.inval"});
    std::memcpy(span.bytes, &word, sizeof word);
    at.block->mbarriers.erase(at.offset);
  });
  return Step::next;
}

Step do_mbarrier_arrive(Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const MbarrierForm&>(*op.data);
  Machine& machine = warp.machine();
  check::Clocks relaxed;
  if (form.relaxed) relaxed = warp.clock.relaxed();
  const check::Clocks& carried = form.relaxed ? relaxed : warp.clock.clocks;
  for_each(active, [&](int i) {
    const MbarrierRef at = barrier_of(warp, op, i);
    check_initialised(machine, at, warp.clock.clocks, at.block != &warp.block());
    if (form.expects) {
      expect_tx(at, warp.lane(op.c, i));
      at.barrier->expecting = &op;
    }
    if (op.d) warp.set_lane(op.d, i, token_of(*at.barrier));
    if (!form.arrives) return;
    const u32 count = op.b ? static_cast<u32>(warp.lane(op.b, i)) : 1;
    if (form.drops) return arrive_and_drop(machine, at, count, carried);
    arrive(machine, at, count, carried);
  });
  warp.clock.tick();
  return Step::next;
}

Step do_mbarrier_complete_tx(Warp& warp, const Op& op, Mask active) {
  for_each(active, [&](int i) {
    const MbarrierRef at = barrier_of(warp, op, i);
    check_initialised(warp.machine(), at, warp.clock.clocks, at.block != &warp.block());
    complete_tx(warp.machine(), at, warp.lane(op.c, i), warp.clock.clocks);
  });
  return Step::next;
}

// Waits if no lane's phase is complete, unless the wait ends early; otherwise continues and returns each lane its own
// result. Lanes that test the same phase get the same result.
Step do_mbarrier_wait(Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const MbarrierForm&>(*op.data);
  Mask done = 0;
  const Mbarrier* awaited = nullptr;
  u64 detail = 0;
  struct Question {
    u64 address, wanted;
    bool operator==(const Question&) const = default;
  };
  std::optional<Question> last;
  bool last_done = false;
  for_each(active, [&](int i) {
    const Question question{warp.address(op, op.a, i), warp.lane(op.b, i)};
    if (question == last) {
      done |= Mask{last_done} << i;
      return;
    }
    last = question;
    const MbarrierRef at = barrier_of(warp, op, i);
    if (at.block != &warp.block()) {
      throw_fault(FaultKind::cluster, "a wait for the mbarrier at {:#x} of {}; only its own block can wait for it",
                  at.offset, at.block->name());
    }
    check_initialised(warp.machine(), at, warp.clock.clocks, false);
    last_done = complete(*at.barrier, form, question.wanted);
    if (last_done) {
      done |= Mask{1} << i;
      const check::Clocks& released = at.barrier->released;
      return form.relaxed ? warp.clock.acquire_relaxed(released) : warp.clock.acquire(released);
    }
    if (!form.suspends) at.barrier->polled_incomplete = true;
    if (awaited == nullptr) {
      awaited = at.barrier;
      detail = form.parity ? question.wanted : question.wanted >> 63;
    }
  });
  if (done == 0 && form.suspends && !warp.machine().ends_try_wait()) return warp.wait_for(awaited, Step::wait, detail);
  warp.set_predicate(op.d, active, done);
  if (done == 0) return Step::yield;
  warp.clock.tick();
  return Step::next;
}

Step do_mbarrier_pending(Warp& warp, const Op& op, Mask active) {
  for_each(active, [&](int i) { warp.set_lane(op.d, i, (u64{1} << 20) - (warp.lane(op.a, i) >> 43 & 0xfffffU)); });
  return Step::next;
}

Step do_fence_proxy(Warp& warp, const Op& op, Mask) {
  const auto memory = static_cast<ProxyFence>(op.kind);
  warp.clock.fence_proxy(memory != ProxyFence::global, memory != ProxyFence::shared);
  return Step::next;
}

Step do_fence_mbarrier_init(Warp& warp, const Op&, Mask) {
  warp.clock.fence_mbarrier_init();
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
