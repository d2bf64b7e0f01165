#include "emulator/machine/copy_operation.h"

#include <algorithm>
#include <cstring>

#include "emulator/fault.h"
#include "emulator/machine/observer.h"
#include "emulator/machine/warp.h"

namespace tma_jit::emulator {
namespace {

constexpr u32 kBulkUnit = 16;  // bytes: sizes are rounded up to it
constexpr u32 kRow = 128;      // bytes of the widest swizzle

// Rows of a box are too far apart for the host's hardware prefetcher.
void prefetch(const tensor::Run& run) {
  constexpr u32 kLine = 64;
  for (u32 at = 0; at < std::min(run.bytes, kRow); at += kLine)
    __builtin_prefetch(reinterpret_cast<const void*>(run.global + at));
}

}  // namespace

std::vector<tensor::Run> CopyExtent::runs(u32 shared, tensor::Direction direction) const {
  std::vector<tensor::Run> list;
  if (!tensor) {
    list.push_back({global, shared, bytes, false});
    return list;
  }
  tensor::Access placed = access;
  placed.shared = shared;
  tensor::append_runs(placed, direction, list);
  return list;
}

void MbarrierCopy::begin(Machine& machine) {
  begun_ = true;
  if (!from_shared) return;
  const SharedSpan span = machine.shared_at(*block, static_cast<u32>(extent.global), extent.bytes);
  const MbarrierRef barrier = mbarrier_in(machine, *targets[0].barrier_block, targets[0].barrier);
  machine.record_shared(span, extent.bytes, {false, next_event(machine, barrier, op), &clocks, "a bulk copy"});
  bytes_.assign(span.bytes, span.bytes + extent.bytes);
}

void MbarrierCopy::deliver_run(Machine& machine, const Target& target, const tensor::Run& run, SharedAccesses& writes,
                               GlobalAccesses& reads) {
  extent.for_each_contiguous(run, [&](u32 shared, u32 bytes) {
    machine.check_mbarrier_store(machine.shared_at(*target.block, shared, bytes), bytes);
    writes.add(shared, bytes);
  });
  u8* const shared = target.block->shared.data();
  if (reduces) return tensor::reduce(reduction, format, shared + run.shared, bytes_.data(), run.bytes);
  if (from_shared) {
    std::memcpy(shared + run.shared, bytes_.data(), run.bytes);
    return;
  }
  if (!run.fill) {
    machine.global(run.global, run.bytes, false);
    reads.add(run.global, run.bytes);
    if (machine.observer() != nullptr)
      machine.observer()->moved(std::string(extent.what()) + " reads global", run.bytes);
  }
  if (extent.tensor) {
    tensor::load(extent.access.map, run, shared);
  } else {
    std::memcpy(shared + run.shared, reinterpret_cast<const void*>(run.global), run.bytes);
  }
}

// Splits the runs into pieces of at most `longest` bytes.
std::vector<tensor::Run> MbarrierCopy::cut(const std::vector<tensor::Run>& runs, u32 longest) {
  std::vector<tensor::Run> pieces;
  for (tensor::Run rest : runs) {
    for (; rest.bytes > longest; rest.shared += longest, rest.bytes -= longest) {
      pieces.push_back({rest.global, rest.shared, longest, rest.fill});
      if (!rest.fill) rest.global += longest;
    }
    pieces.push_back(rest);
  }
  return pieces;
}

// Completes the delivered bytes on the mbarrier; the last part completes the remainder of the transaction.
void MbarrierCopy::deliver(Machine& machine, const Target& target, std::size_t last) {
  Machine::require_resident(*target.block, "a copy");
  const MbarrierRef barrier = mbarrier_in(machine, *target.barrier_block, target.barrier);
  check_initialised(machine, barrier, clocks, true);
  check::Stamp event = next_event(machine, barrier, op);
  if (reduces) event.flags |= check::Access::kStrong;
  const check::Access writing{true, event, &clocks, extent.what()};
  check::Access reading{false, event, &clocks, extent.what()};
  if (!extent.tensor) reading.unit = kBulkUnit;
  SharedAccesses writes(machine, *target.block, writing);
  GlobalAccesses reads(machine, *block, reading);
  u32 bytes = 0;
  constexpr std::size_t kAhead = 8;
  for (; next_run_ < last; ++next_run_) {
    if (next_run_ + kAhead < last) prefetch(runs_[next_run_ + kAhead]);
    deliver_run(machine, target, runs_[next_run_], writes, reads);
    bytes += runs_[next_run_].bytes;
  }
  writes.finish();
  reads.finish();
  const u32 rest = extent.transaction_bytes() - counted_;
  bytes = last == runs_.size() ? rest : std::min(bytes, rest);
  counted_ += bytes;
  complete_tx(machine, barrier, bytes, clocks);
}

// A part is half of the data of one target, or an eighth under the policy that splits operations.
bool MbarrierCopy::perform(Machine& machine) {
  if (!begun_) begin(machine);
  const Target& target = targets[next_target_];
  const bool split = machine.settings().policy == Policy::split;
  const u32 parts = split ? 8 : 2;
  if (next_run_ == 0) {
    runs_ = extent.runs(target.shared, tensor::Direction::load);
    const u32 longest = std::max(extent.transaction_bytes() / parts / kBulkUnit, 1U) * kBulkUnit;
    if (!from_shared && (split || runs_.size() < parts)) runs_ = cut(runs_, split ? std::min(longest, kRow) : longest);
  }
  const std::size_t part = std::max<std::size_t>(runs_.size() / parts, 1);
  const std::size_t end = next_run_ / part * part + part;
  deliver(machine, target, end + part > runs_.size() ? runs_.size() : end);
  if (next_run_ < runs_.size()) return false;
  next_run_ = 0;
  counted_ = 0;
  return ++next_target_ == targets.size();
}

void BulkGroupCopy::read(Machine& machine) {
  const check::Access access{false, stamp, &clocks, extent.what()};
  SharedAccesses reads(machine, *block, access);
  runs_ = extent.runs(shared, tensor::Direction::store);
  for (const tensor::Run& run : runs_) {
    extent.for_each_contiguous(run, [&](u32 at, u32 bytes) {
      machine.shared_at(*block, at, bytes);
      reads.add(at, bytes);
    });
    extent.for_each_piece(run, [&](u32 at, u32, u32 bytes) {
      const u8* const piece = block->shared.data() + at;
      bytes_.insert(bytes_.end(), piece, piece + bytes);
    });
  }
  reads.finish();
}

void BulkGroupCopy::write_run(Machine& machine, u64 global, const u8* bytes, u32 count, GlobalAccesses& writes) const {
  u8* const to = machine.global(global, count, true);
  if (machine.observer() != nullptr)
    machine.observer()->moved(extent.tensor ? "a tensor copy writes global" : "a bulk copy writes global", count);
  if (byte_mask == 0xffff) {
    writes.add(global, count);
    if (reduces) return tensor::reduce(reduction, format, to, bytes, count);
    std::memcpy(to, bytes, count);
    return;
  }
  for (u32 i = 0; i < count; ++i) {
    if ((byte_mask >> (i % 16) & 1U) == 0) continue;
    writes.add(global + i, 1);
    to[i] = bytes[i];
  }
}

void BulkGroupCopy::write(Machine& machine) {
  check::Access access{true, write_stamp, &clocks, extent.what()};
  access.updates = reduces;
  if (reduces) access.stamp.flags |= check::Access::kStrong;
  GlobalAccesses writes(machine, *block, access);
  const u8* from = bytes_.data();
  for (const tensor::Run& run : runs_) {
    write_run(machine, run.global, from, run.bytes, writes);
    from += run.bytes;
  }
  writes.finish();
}

bool BulkGroupCopy::perform(Machine& machine) {
  if (!read_done) {
    read(machine);
    read_done = true;
    machine.wake(&warp->bulk_groups);
    return false;
  }
  write(machine);
  written = true;
  machine.wake(&warp->bulk_groups);
  return true;
}

}  // namespace tma_jit::emulator
