#include "emulator/async/element_copy.h"

#include <algorithm>
#include <cstring>

#include "emulator/async/mbarrier_ops.h"
#include "emulator/exec/address.h"
#include "emulator/exec/atomic.h"
#include "emulator/exec/machine.h"
#include "emulator/fault.h"

namespace tma_jit::emulator {
namespace async {

bool ElementCopy::perform(Machine& machine) {
  const std::size_t half = lanes.size() / 2;
  const std::size_t last = next_ < half ? half : lanes.size();
  check::Access reading{false, stamp, &clocks, "cp.async"};
  reading.unit = bytes;
  check::GlobalAccesses reads(machine, *block, reading);
  for (; next_ < last; ++next_) {
    const Lane& lane = lanes[next_];
    const SharedSpan span = machine.shared_at(*lane.target, lane.shared, bytes);
    machine.refuse_mbarrier_store(span, bytes);
    machine.record_shared(span, bytes, {true, stamp, &clocks, "cp.async"});
    std::memset(span.bytes, 0, bytes);
    if (lane.read == 0) continue;
    std::memcpy(span.bytes, machine.global(lane.global, lane.read, false), lane.read);
    reads.add(lane.global, lane.read);
  }
  reads.finish();
  done = next_ == lanes.size();
  if (done) machine.wake(&warp->element_groups);
  return done;
}

bool ElementArrival::ready() const {
  return std::all_of(before.begin(), before.end(), [](const auto& copy) { return copy->done; });
}

bool ElementArrival::perform(Machine& machine) {
  const MbarrierRef at = mbarrier_in(machine, *target, barrier);
  clocks.complete(channel, time);
  arrive(machine, at, 1, clocks, false);
  return true;
}

bool RemoteStore::perform(Machine& machine) {
  Machine::require_resident(*target, "an asynchronous store");
  const MbarrierRef at = mbarrier_in(machine, *barrier_block, barrier);
  check_initialised(machine, at, clocks, true);
  const auto count = static_cast<u32>(bytes.size());
  const SharedSpan span = machine.shared_at(*target, shared, count);
  machine.refuse_mbarrier_store(span, count);
  check::Stamp event = next_event(machine, at, op);
  event.flags = check::Access::kStrong;  // these stores are of the generic proxy
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
  complete(machine, at, count, clocks);
  return true;
}

}  // namespace async

namespace {

async::ElementGroups& groups_of(Warp& warp) {
  async::ElementGroups& groups = warp.element_groups;
  if (groups.channel == check::kNobody) {
    groups.channel = warp.machine().new_channel(
        warp.block().cluster(), fmt::format("a cp.async of warp {} of {}", warp.index(), warp.block().name()));
  }
  return groups;
}

template <class T> std::shared_ptr<T> issued(Warp& warp, const Op& op) {
  auto operation = std::make_shared<T>();
  operation->warp = &warp;
  operation->block = &warp.block();
  operation->op = &op;
  operation->clocks = warp.clock.clocks;
  return operation;
}

}  // namespace

Step do_element_copy(Warp& warp, const Op& op, Mask active) {
  auto copy = issued<async::ElementCopy>(warp, op);
  copy->bytes = static_cast<u32>(op.immediate);
  const auto& form = static_cast<const CopyForm&>(*op.data);
  for_each(active, [&](int i) {
    const u64 global = warp.lane(form.source.base, i) + static_cast<u64>(form.source.offset);
    const u64 shared = warp.lane(form.destination.base, i) + static_cast<u64>(form.destination.offset);
    if (global % copy->bytes != 0 || shared % copy->bytes != 0) {
      stop(FaultKind::alignment, "cp.async of {} bytes from {:#x} to {:#x}", copy->bytes, global, shared);
    }
    const SharedSpan span = warp.machine().shared(warp.block(), static_cast<u32>(shared), copy->bytes);
    u32 read = copy->bytes;
    if (form.size) read = static_cast<u32>(warp.lane(form.size, i));
    if (form.ignores) read = (warp.predicate(form.ignores) >> i & 1U) != 0 ? 0 : read;
    if (read > copy->bytes) stop(FaultKind::bounds, "cp.async of {} bytes reads {}", copy->bytes, read);
    copy->lanes.push_back({global, span.block, span.offset, read});
  });
  async::ElementGroups& groups = groups_of(warp);
  copy->stamp = {groups.channel, check::kManyLanes, 0, groups.committed + 1, &op};
  groups.members.emplace_back(groups.committed, copy);
  warp.machine().async().submit(std::move(copy));
  warp.clock.tick();
  return Step::next;
}

Step do_element_commit(Warp& warp, const Op&, Mask) {
  ++groups_of(warp).committed;
  return Step::next;
}

Step do_element_wait(Warp& warp, const Op& op, Mask) {
  async::ElementGroups& groups = groups_of(warp);
  const bool all = op.kind == 1;
  const u32 pending = static_cast<u32>(op.immediate);
  const u32 done = all ? groups.committed + 1 : groups.committed > pending ? groups.committed - pending : 0;
  for (const auto& [group, copy] : groups.members) {
    if (group < done && !copy->done) return warp.wait_for(&warp.element_groups, Step::wait);
  }
  std::erase_if(groups.members, [](const auto& member) { return member.second->done; });
  if (all) ++groups.committed;
  warp.clock.clocks.complete(groups.channel, done);
  warp.clock.tick();
  return Step::next;
}

Step do_element_arrive(Warp& warp, const Op& op, Mask active) {
  async::ElementGroups& groups = groups_of(warp);
  for_each(active, [&](int i) {
    const async::MbarrierRef at =
        async::mbarrier_at(warp.machine(), warp.block(), static_cast<u32>(warp.address(op, op.a, i)));
    async::check_initialised(warp.machine(), at, warp.clock.clocks, false);
    if (op.kind == 0) ++at.barrier->pending;
    auto arrival = issued<async::ElementArrival>(warp, op);
    for (const auto& member : groups.members) arrival->before.push_back(member.second);
    arrival->target = at.block;
    arrival->barrier = at.offset;
    arrival->channel = groups.channel;
    arrival->time = groups.committed + 1;
    warp.machine().async().submit(std::move(arrival));
  });
  warp.clock.tick();
  return Step::next;
}

Step do_remote_store(Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const CopyForm&>(*op.data);
  const auto size = static_cast<u32>(ptx::size_of(op.type));
  for_each(active, [&](int i) {
    auto store = issued<async::RemoteStore>(warp, op);
    const u64 address = warp.lane(form.destination.base, i) + static_cast<u64>(form.destination.offset);
    const u64 barrier = warp.lane(form.barrier.base, i) + static_cast<u64>(form.barrier.offset);
    const u32 bytes = size * static_cast<u32>(op.list.size());
    if (address % bytes != 0)
      stop(FaultKind::alignment, "{} of {} bytes at {:#x}", op.source->modifiers[0], bytes, address);
    const SharedSpan span = warp.machine().shared(warp.block(), static_cast<u32>(address), bytes);
    const SharedSpan counted = warp.machine().shared(warp.block(), static_cast<u32>(barrier), 8);
    if (span.block != counted.block) {
      stop(FaultKind::cluster, "the data go to {} and the mbarrier is in {}; both are in one block", span.block->name(),
           counted.block->name());
    }
    store->target = span.block;
    store->shared = span.offset;
    store->barrier_block = counted.block;
    store->barrier = counted.offset;
    store->reduction = op.kind;
    store->type = op.type;
    for (const Place& value : op.list) {
      const u64 bits = warp.lane(value, i);
      const auto* raw = reinterpret_cast<const u8*>(&bits);
      store->bytes.insert(store->bytes.end(), raw, raw + size);
    }
    warp.machine().async().submit(std::move(store));
  });
  warp.clock.tick();
  return Step::next;
}

}  // namespace tma_jit::emulator
