#include "emulator/isa/copy/cp_async.h"

#include "emulator/isa/copy/handlers_copy.h"
#include "emulator/machine/cp_async_operation.h"

#include <algorithm>
#include <cstring>

#include "emulator/fault.h"
#include "emulator/machine/address.h"
#include "emulator/machine/atomic.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/mbarrier_ops.h"

namespace tma_jit::emulator::isa {
namespace {

CpAsyncGroups& groups_of(Warp& warp) {
  CpAsyncGroups& groups = warp.cp_async_groups;
  if (groups.channel == check::kNoActor) {
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

Step do_cp_async(Warp& warp, const Op& op, Mask active) {
  auto copy = issued<CpAsyncCopy>(warp, op);
  copy->bytes = static_cast<u32>(op.immediate);
  const auto& form = static_cast<const CopyForm&>(*op.data);
  for_each(active, [&](int i) {
    const u64 global = warp.lane(form.source.base, i) + static_cast<u64>(form.source.offset);
    const u64 shared = warp.lane(form.destination.base, i) + static_cast<u64>(form.destination.offset);
    if (global % copy->bytes != 0 || shared % copy->bytes != 0) {
      throw_fault(FaultKind::alignment, "cp.async of {} bytes from {:#x} to {:#x}", copy->bytes, global, shared);
    }
    const SharedSpan span = warp.machine().shared(warp.block(), static_cast<u32>(shared), copy->bytes);
    u32 read = copy->bytes;
    if (form.size) read = static_cast<u32>(warp.lane(form.size, i));
    if (form.ignores) read = (warp.predicate(form.ignores) >> i & 1U) != 0 ? 0 : read;
    if (read > copy->bytes) throw_fault(FaultKind::bounds, "cp.async of {} bytes reads {}", copy->bytes, read);
    copy->lanes.push_back({global, span.block, span.offset, read});
  });
  CpAsyncGroups& groups = groups_of(warp);
  copy->stamp = {groups.channel, check::kManyLanes, 0, groups.committed + 1, &op};
  groups.members.emplace_back(groups.committed, copy);
  warp.machine().async().submit(std::move(copy));
  warp.clock.tick();
  return Step::next;
}

Step do_cp_async_commit(Warp& warp, const Op&, Mask) {
  ++groups_of(warp).committed;
  return Step::next;
}

Step do_cp_async_wait(Warp& warp, const Op& op, Mask) {
  CpAsyncGroups& groups = groups_of(warp);
  const bool all = op.kind == 1;
  const u32 pending = static_cast<u32>(op.immediate);
  const u32 done = all ? groups.committed + 1 : groups.committed > pending ? groups.committed - pending : 0;
  for (const auto& [group, copy] : groups.members) {
    if (group < done && !copy->done) return warp.wait_for(&warp.cp_async_groups, Step::wait);
  }
  std::erase_if(groups.members, [](const auto& member) { return member.second->done; });
  if (all) ++groups.committed;
  warp.clock.clocks.complete(groups.channel, done);
  warp.clock.tick();
  return Step::next;
}

Step do_cp_async_arrive(Warp& warp, const Op& op, Mask active) {
  CpAsyncGroups& groups = groups_of(warp);
  for_each(active, [&](int i) {
    const MbarrierRef at = mbarrier_at(warp.machine(), warp.block(), static_cast<u32>(warp.address(op, op.a, i)));
    check_initialised(warp.machine(), at, warp.clock.clocks, false);
    if (op.kind == 0) ++at.barrier->pending;
    auto arrival = issued<CpAsyncArrival>(warp, op);
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

Step do_st_async(Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const CopyForm&>(*op.data);
  const auto size = static_cast<u32>(ptx::size_of(op.type));
  for_each(active, [&](int i) {
    auto store = issued<AsyncStore>(warp, op);
    const u64 address = warp.lane(form.destination.base, i) + static_cast<u64>(form.destination.offset);
    const u64 barrier = warp.lane(form.barrier.base, i) + static_cast<u64>(form.barrier.offset);
    const u32 bytes = size * static_cast<u32>(op.list.size());
    if (address % bytes != 0)
      throw_fault(FaultKind::alignment, "{} of {} bytes at {:#x}", op.source->modifiers[0], bytes, address);
    const SharedSpan span = warp.machine().shared(warp.block(), static_cast<u32>(address), bytes);
    const SharedSpan counted = warp.machine().shared(warp.block(), static_cast<u32>(barrier), 8);
    if (span.block != counted.block) {
      throw_fault(FaultKind::cluster, "the data go to {} and the mbarrier is in {}; both are in one block",
                  span.block->name(), counted.block->name());
    }
    store->target = span.block;
    store->shared = span.offset;
    store->barrier_block = counted.block;
    store->barrier = counted.offset;
    store->reduction = op.kind;
    store->type = op.type;
    for (const RegisterRef& value : op.list) {
      const u64 bits = warp.lane(value, i);
      const auto* raw = reinterpret_cast<const u8*>(&bits);
      store->bytes.insert(store->bytes.end(), raw, raw + size);
    }
    warp.machine().async().submit(std::move(store));
  });
  warp.clock.tick();
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
