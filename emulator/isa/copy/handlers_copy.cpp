// Issue of bulk and tensor copies. Operands are read and checked at issue; the engine performs the copies later.
#include "emulator/isa/copy/handlers_copy.h"

#include <algorithm>
#include <cstring>

#include "emulator/fault.h"
#include "emulator/machine/address.h"
#include "emulator/machine/copy_operation.h"

namespace tma_jit::emulator::isa {
namespace {

u64 address_of(const Warp& warp, const AddressOperand& operand, int lane) {
  return warp.lane(operand.base, lane) + static_cast<u64>(operand.offset);
}

// Returns the block and the offset of a shared address.
SharedSpan shared_of(Warp& warp, const AddressOperand& operand, int lane, u32 bytes) {
  return warp.machine().shared(warp.block(), static_cast<u32>(address_of(warp, operand, lane)), bytes);
}

void check_multiple(u64 value, u64 unit, std::string_view what) {
  if (value % unit != 0) {
    throw_fault(FaultKind::alignment, "{} is {:#x}, which is not a multiple of {}", what, value, unit);
  }
}

tensor::TensorMap map_at(Warp& warp, const Op& op, const CopyForm& form, int lane) {
  const u64 address = address_of(warp, form.map, lane);
  check_multiple(address, 64, "the address of the tensor map");
  if (is_shared(address)) {
    throw_fault(FaultKind::tensor_map,
                "the tensor map is in shared memory; it lies in global, constant or parameter memory");
  }
  constexpr u32 kBytes = sizeof(tensor::TensorMap);
  const u8* const bytes = warp.machine().global(address, kBytes, false);
  if (form.route != CopyForm::Route::prefetch) {
    const check::Stamp stamp{warp.clock.id, check::kManyLanes, 0, warp.clock.now(), &op};
    const check::Access access{false, stamp, &warp.clock.clocks, "the use of a tensor map"};
    warp.machine().record_global(warp.block(), address, kBytes, access);
  }
  if (warp.machine().settings().checks) warp.machine().tensor_maps().use(address, warp);
  return tensor::read_map(bytes);
}

CopyExtent tensor_extent(Warp& warp, const Op& op, const CopyForm& form, int lane) {
  CopyExtent extent;
  extent.tensor = true;
  tensor::Access& access = extent.access;
  access.map = map_at(warp, op, form, lane);
  access.mode = form.mode;
  access.coordinate_count = static_cast<u32>(form.coordinates.size());
  for (std::size_t i = 0; i < form.coordinates.size(); ++i) {
    access.coordinates[i] = static_cast<s32>(warp.lane(form.coordinates[i], lane));
  }
  for (std::size_t i = 0; i < form.offsets.size() && i < access.offsets.size(); ++i) {
    access.offsets[i] = static_cast<u32>(warp.lane(form.offsets[i], lane) & 0xffffU);
  }
  const bool store = form.route == CopyForm::Route::shared_to_global;
  tensor::check_access(access, store ? tensor::Direction::store : tensor::Direction::load);
  return extent;
}

CopyExtent stretch(Warp& warp, const CopyForm& form, int lane, const AddressOperand& global) {
  CopyExtent extent;
  extent.bytes = static_cast<u32>(warp.lane(form.size, lane));
  extent.global = address_of(warp, global, lane);
  check_multiple(extent.bytes, 16, "the size of a bulk copy");
  check_multiple(extent.global, 16, "the global address of a bulk copy");
  return extent;
}

CopyExtent extent_of(Warp& warp, const Op& op, const CopyForm& form, int lane, const AddressOperand& global) {
  return form.tensor ? tensor_extent(warp, op, form, lane) : stretch(warp, form, lane, global);
}

// A box must be aligned to 128 bytes. A swizzle pattern may be longer: it is a function of the address, both here and
// where the tile is read, so that a tile need not begin at the start of a pattern.
void check_tile(const CopyExtent& extent, u32 shared) {
  if (!extent.tensor) return check_multiple(shared, 16, "the shared address of a bulk copy");
  check_multiple(shared, 128, "the shared address of a tensor copy");
}

template <class T> std::shared_ptr<T> issued(Warp& warp, const Op& op, int lane) {
  auto operation = std::make_shared<T>();
  operation->warp = &warp;
  operation->block = &warp.block();
  operation->op = &op;
  operation->clocks = warp.clock.clocks;
  operation->stamp.lane = static_cast<u8>(lane);
  return operation;
}

// Returns the block whose mbarrier counts the bytes that a multicast delivers to block `target`: the target itself, or
// with .cta_group::2 the block of the target's pair whose rank has the parity of the rank in the mbarrier operand. PTX
// ISA 9.0, "cp.async.bulk.tensor".
Block& signalled(const CopyForm& form, const Cluster& cluster, u32 target, const Block& named) {
  const u32 rank = form.pairs ? (target & ~1U) | (named.rank() & 1U) : target;
  if (rank >= cluster.blocks.size()) {
    throw_fault(FaultKind::cluster,
                "a multicast of .cta_group::2 to block {} of a cluster of {}, where its pair is missing", target,
                cluster.blocks.size());
  }
  Machine::require_resident(*cluster.blocks[rank], "the signal of a multicast");
  return *cluster.blocks[rank];
}

void add_targets(Warp& warp, const CopyForm& form, MbarrierCopy& copy, int lane) {
  const SharedSpan barrier = shared_of(warp, form.barrier, lane, 8);
  const SharedSpan tile = shared_of(warp, form.destination, lane, 1);
  check_tile(copy.extent, tile.offset);
  mbarrier_in(warp.machine(), *barrier.block, barrier.offset);
  if (!form.multicast) {
    copy.targets.push_back({tile.block, tile.offset, barrier.block, barrier.offset});
    return;
  }
  const Cluster& cluster = warp.block().cluster();
  const auto& blocks = cluster.blocks;
  const u64 mask = warp.lane(form.multicast, lane) & 0xffffU;
  if (mask == 0 || mask >> blocks.size() != 0) {
    throw_fault(FaultKind::cluster, "a multicast to blocks {:#x} of a cluster of {}", mask, blocks.size());
  }
  for (u32 rank = 0; rank < blocks.size(); ++rank) {
    if ((mask >> rank & 1U) == 0) continue;
    Machine::require_resident(*blocks[rank], "a multicast");
    Block& counting = signalled(form, cluster, rank, *barrier.block);
    copy.targets.push_back({blocks[rank].get(), tile.offset, &counting, barrier.offset});
  }
}

void issue_load(Warp& warp, const Op& op, const CopyForm& form, int lane) {
  auto copy = issued<MbarrierCopy>(warp, op, lane);
  copy->from_shared = form.route == CopyForm::Route::shared_to_shared;
  if (copy->from_shared) {
    copy->extent.bytes = static_cast<u32>(warp.lane(form.size, lane));
    const SharedSpan from = shared_of(warp, form.source, lane, copy->extent.bytes);
    copy->extent.global = from.offset;
    check_multiple(copy->extent.bytes, 16, "the size of a bulk copy");
    check_multiple(from.offset, 16, "the shared source of a bulk copy");
  } else {
    copy->extent = extent_of(warp, op, form, lane, form.source);
  }
  add_targets(warp, form, *copy, lane);
  copy->reduces = form.reduces;
  copy->reduction = form.reduction;
  copy->format = form.format;
  warp.machine().async().submit(std::move(copy));
}

BulkGroups& groups_of(Warp& warp, int lane) {
  BulkGroups& groups = warp.bulk_groups[lane];
  if (groups.channel == check::kNoActor) {
    const std::string name = fmt::format("a copy out of shared memory issued by warp {} lane {} of {}", warp.index(),
                                         lane, warp.block().name());
    groups.channel = warp.machine().new_channel(warp.block().cluster(), name);
    groups.write_channel = warp.machine().new_channel(warp.block().cluster(), name);
  }
  return groups;
}

// Returns whether two lanes issue the same copy.
bool same_copy(const Warp& warp, const CopyForm& form, int first, int second) {
  const auto same = [&](const RegisterRef& reg) { return !reg || warp.lane(reg, first) == warp.lane(reg, second); };
  return same(form.destination.base) && same(form.source.base) && same(form.map.base) && same(form.size) &&
         same(form.byte_mask) && std::ranges::all_of(form.coordinates, same) && std::ranges::all_of(form.offsets, same);
}

std::shared_ptr<BulkGroupCopy> issue_store(Warp& warp, const Op& op, const CopyForm& form, int lane) {
  auto copy = issued<BulkGroupCopy>(warp, op, lane);
  copy->extent = extent_of(warp, op, form, lane, form.destination);
  const SharedSpan from = shared_of(warp, form.source, lane, 1);
  if (from.block != &warp.block()) {
    throw_fault(FaultKind::cluster, "a copy by {} out of the shared memory of {}; a block copies out of its own",
                warp.block().name(), from.block->name());
  }
  copy->shared = from.offset;
  check_tile(copy->extent, from.offset);
  copy->reduces = form.reduces;
  copy->reduction = form.reduction;
  copy->format = form.format;
  if (form.reduces && form.tensor) {
    const auto format = tensor::reduced_as(copy->extent.access.map.element);
    if (!format) {
      throw_fault(FaultKind::tensor_map, "elements of type {} of tensormap.replace's .elemtype cannot be reduced",
                  static_cast<int>(copy->extent.access.map.element));
    }
    copy->format = *format;
  }
  if (form.byte_mask) copy->byte_mask = static_cast<u16>(warp.lane(form.byte_mask, lane));
  BulkGroups& groups = groups_of(warp, lane);
  copy->stamp = {groups.channel, check::kManyLanes, check::Access::kAsync, groups.committed + 1, &op};
  copy->write_stamp = copy->stamp;
  copy->write_stamp.actor = groups.write_channel;
  groups.members.push_back({groups.committed, copy});
  warp.machine().async().submit(copy);
  return copy;
}

// Lanes of one instruction that store the same bytes to the same location share one copy; each waits for it in a group
// of its own. Every lane's reduction is performed.
void issue_stores(Warp& warp, const Op& op, const CopyForm& form, Mask active) {
  std::vector<std::pair<int, std::shared_ptr<BulkGroupCopy>>> issued;
  for_each(active, [&](int i) {
    const auto same = [&](const auto& earlier) { return same_copy(warp, form, earlier.first, i); };
    const auto found = form.reduces ? issued.end() : std::ranges::find_if(issued, same);
    if (found == issued.end()) {
      issued.emplace_back(i, issue_store(warp, op, form, i));
    } else {
      BulkGroups& groups = groups_of(warp, i);
      groups.members.push_back({groups.committed, found->second});
    }
  });
}

}  // namespace

std::vector<RegisterRef> CopyForm::reads() const {
  std::vector<RegisterRef> refs = {destination.base, source.base, map.base, barrier.base, size,
                                   multicast,        byte_mask,   ignores};
  refs.insert(refs.end(), coordinates.begin(), coordinates.end());
  refs.insert(refs.end(), offsets.begin(), offsets.end());
  return refs;
}

Step do_copy(Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const CopyForm&>(*op.data);
  if (form.route == CopyForm::Route::shared_to_global) {
    issue_stores(warp, op, form, active);
  } else {
    for_each(active, [&](int i) {
      if (form.route == CopyForm::Route::prefetch) {
        extent_of(warp, op, form, i, form.source);
      } else {
        issue_load(warp, op, form, i);
      }
    });
  }
  warp.clock.tick();
  return Step::next;
}

Step do_prefetch_map(Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const CopyForm&>(*op.data);
  for_each(active, [&](int i) { map_at(warp, op, form, i); });
  return Step::next;
}

Step do_bulk_commit(Warp& warp, const Op&, Mask active) {
  for_each(active, [&](int i) {
    const auto found = warp.bulk_groups.find(i);
    if (found != warp.bulk_groups.end()) ++found->second.committed;
  });
  return Step::next;
}

Step do_bulk_wait(Warp& warp, const Op& op, Mask active) {
  const bool reading = op.kind == 1;
  for (auto& [lane, groups] : warp.bulk_groups) {
    if ((active >> lane & 1U) == 0) continue;
    const u32 done = groups.committed > op.immediate ? groups.committed - static_cast<u32>(op.immediate) : 0;
    for (const auto& member : groups.members) {
      if (member.group < done && !(member.copy->written || (reading && member.copy->read_done))) {
        return warp.wait_for(&warp.bulk_groups, Step::wait);
      }
    }
    for (const auto& [group, copy] : groups.members) {
      if (group >= done) continue;
      copy->waited = true;
      warp.clock.clocks.complete(copy->stamp.actor, copy->stamp.time);
      if (!reading) warp.clock.clocks.complete(copy->write_stamp.actor, copy->write_stamp.time);
    }
    std::erase_if(groups.members, [&](const auto& member) { return member.copy->written && member.copy->waited; });
    warp.clock.clocks.complete(groups.channel, done);
    if (!reading) warp.clock.clocks.complete(groups.write_channel, done);
  }
  warp.clock.tick();
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
