#include "emulator/machine/cp_async_operation.h"

#include <algorithm>
#include <cstring>

#include "emulator/fault.h"
#include "emulator/machine/accesses.h"
#include "emulator/machine/atomic.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/mbarrier_ops.h"

namespace tma_jit::emulator {

bool CpAsyncCopy::perform(Machine& machine) {
  const std::size_t half = lanes.size() / 2;
  const std::size_t last = next_ < half ? half : lanes.size();
  check::Access reading{false, stamp, &clocks, "cp.async"};
  reading.unit = bytes;
  GlobalAccesses reads(machine, *block, reading);
  for (; next_ < last; ++next_) {
    const Lane& lane = lanes[next_];
    const SharedSpan span = machine.shared_at(*lane.target, lane.shared, bytes);
    machine.check_mbarrier_store(span, bytes);
    machine.record_shared(span, bytes, {true, stamp, &clocks, "cp.async"});
    std::memset(span.bytes, 0, bytes);
    if (lane.read == 0) continue;
    std::memcpy(span.bytes, machine.global(lane.global, lane.read, false), lane.read);
    reads.add(lane.global, lane.read);
  }
  reads.finish();
  done = next_ == lanes.size();
  if (done) machine.wake(&warp->cp_async_groups);
  return done;
}

bool CpAsyncArrival::ready() const {
  return std::all_of(before.begin(), before.end(), [](const auto& copy) { return copy->done; });
}

bool CpAsyncArrival::perform(Machine& machine) {
  const MbarrierRef at = mbarrier_in(machine, *target, barrier);
  clocks.complete(channel, time);
  arrive(machine, at, 1, clocks);
  return true;
}

bool AsyncStore::perform(Machine& machine) {
  Machine::require_resident(*target, "an asynchronous store");
  const MbarrierRef at = mbarrier_in(machine, *barrier_block, barrier);
  check_initialised(machine, at, clocks, true);
  const auto count = static_cast<u32>(bytes.size());
  const SharedSpan span = machine.shared_at(*target, shared, count);
  machine.check_mbarrier_store(span, count);
  check::Stamp event = next_event(machine, at, op);
  event.flags = check::Access::kStrong;  // these stores use the generic proxy
  machine.record_shared(span, count, {true, event, &clocks, reduction != 0 ? "red.async" : "st.async"});
  if (reduction != 0) {
    u64 old = 0, value = 0;
    std::memcpy(&old, span.bytes, count);
    std::memcpy(&value, bytes.data(), count);
    const u64 result = atomic_value(static_cast<Atomic>(reduction - 1), type, old, value, 0);
    std::memcpy(span.bytes, &result, count);
  } else {
    std::memcpy(span.bytes, bytes.data(), count);
  }
  complete_tx(machine, at, count, clocks);
  return true;
}

}  // namespace tma_jit::emulator
