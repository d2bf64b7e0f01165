#include "emulator/async/copy_operation.h"

#include <algorithm>
#include <cstring>

#include "emulator/exec/atomic.h"
#include "emulator/exec/warp.h"
#include "emulator/fault.h"

namespace tma_jit::emulator::async {
namespace {

// PTX ISA 9.0, "Tensors": outside of the tensor a load finds zeros, or NaN where the map asks for it.
void fill_outside(u8* to, u32 bytes, const TensorMap& map) {
  std::memset(to, 0, bytes);
  if (!map.fill_nan) return;
  const u32 unit = unit_of(map.type).shared;
  for (u32 i = 0; i + unit <= bytes; i += unit) {
    std::memset(to + i, 0xff, unit);
    to[i + unit - 1] = 0x7f;
  }
}

}  // namespace

void LoadCopy::begin(Machine& machine) {
  begun_ = true;
  if (!from_shared) return;
  const SharedSpan span = machine.shared_at(*block, static_cast<u32>(extent.global), extent.bytes);
  const MbarrierRef barrier = mbarrier_in(machine, *targets[0].barrier_block, targets[0].barrier);
  machine.record_shared(span, extent.bytes, {false, next_event(machine, barrier, op), &clocks, "a bulk copy"});
  bytes_.assign(span.bytes, span.bytes + extent.bytes);
}

u32 LoadCopy::deliver_bytes(Machine& machine, const Target& target, const check::Access& access) {
  const SharedSpan span = machine.shared_at(*target.block, target.shared, extent.bytes);
  machine.refuse_mbarrier_store(span, extent.bytes);
  machine.record_shared(span, extent.bytes, access);
  const u8* from = from_shared ? bytes_.data() : machine.global(extent.global, extent.bytes, false);
  std::memcpy(span.bytes, from, extent.bytes);
  return extent.bytes;
}

u32 LoadCopy::deliver_box(Machine& machine, const Target& target, const check::Access& access, u32 first, u32 last) {
  const TensorBox box(extent.map, extent.coordinates, target.shared);
  machine.shared_at(*target.block, target.shared, box.bytes());
  u8* const shared = target.block->shared.data();
  for (u32 row = first; row < last; ++row) {
    box.for_each_run(row, false, [&](const Run& run) {
      const SharedSpan span = machine.shared_at(*target.block, run.shared, run.bytes);
      machine.record_shared(span, run.bytes, access);
      machine.refuse_mbarrier_store(span, run.bytes);
      if (run.global == 0) return fill_outside(shared + run.shared, run.bytes, extent.map);
      std::memcpy(shared + run.shared, machine.global(run.global, run.global_bytes, false), run.global_bytes);
      if (run.bytes > run.global_bytes)
        std::memset(shared + run.shared + run.global_bytes, 0, run.bytes - run.global_bytes);
    });
  }
  return (last - first) * box.row_bytes();
}

u32 LoadCopy::deliver(Machine& machine, const Target& target, u32 first, u32 last) {
  const MbarrierRef barrier = mbarrier_in(machine, *target.barrier_block, target.barrier);
  check_initialised(machine, barrier, clocks, true);
  const check::Access access{true, next_event(machine, barrier, op), &clocks,
                             extent.tensor ? "a tensor copy" : "a bulk copy"};
  const u32 bytes =
      extent.tensor ? deliver_box(machine, target, access, first, last) : deliver_bytes(machine, target, access);
  complete(machine, barrier, bytes, clocks);
  return bytes;
}

// A part is half of one target's rows.
bool LoadCopy::perform(Machine& machine) {
  if (!begun_) begin(machine);
  const Target& target = targets[next_target_];
  const u32 rows = extent.tensor ? TensorBox(extent.map, extent.coordinates, target.shared).rows() : 1;
  const u32 last = next_row_ == 0 && rows > 1 ? rows / 2 : rows;
  deliver(machine, target, next_row_, last);
  next_row_ = last;
  if (next_row_ < rows) return false;
  next_row_ = 0;
  return ++next_target_ == targets.size();
}

void GroupedCopy::read(Machine& machine) {
  const check::Access access{false, stamp, &clocks, extent.tensor ? "a tensor copy" : "a bulk copy"};
  const auto take = [&](u32 offset, u32 bytes) {
    const SharedSpan span = machine.shared_at(*block, offset, bytes);
    machine.record_shared(span, bytes, access);
    bytes_.insert(bytes_.end(), span.bytes, span.bytes + bytes);
  };
  if (!extent.tensor) return take(shared, extent.bytes);
  const TensorBox box(extent.map, extent.coordinates, shared);
  for (u32 row = 0; row < box.rows(); ++row) {
    box.for_each_run(row, true, [&](const Run& run) { take(run.shared, run.bytes); });
  }
}

void GroupedCopy::write_run(Machine& machine, u64 global, const u8* bytes, u32 count) const {
  u8* const to = machine.global(global, count, true);
  if (!reduces) {
    for (u32 i = 0; i < count; ++i) {
      if (byte_mask == 0xffff || (byte_mask >> (i % 16) & 1U) != 0) to[i] = bytes[i];
    }
    return;
  }
  const auto size = static_cast<u32>(ptx::size_of(type));
  for (u32 i = 0; i + size <= count; i += size) {
    u64 old = 0, value = 0;
    std::memcpy(&old, to + i, size);
    std::memcpy(&value, bytes + i, size);
    const u64 result = atomic_value(reduction, type, old, value, 0);
    std::memcpy(to + i, &result, size);
  }
}

void GroupedCopy::write(Machine& machine) {
  if (!extent.tensor) return write_run(machine, extent.global, bytes_.data(), extent.bytes);
  const TensorBox box(extent.map, extent.coordinates, shared);
  std::size_t at = 0;
  for (u32 row = 0; row < box.rows(); ++row) {
    box.for_each_run(row, true, [&](const Run& run) {
      if (run.global != 0) write_run(machine, run.global, bytes_.data() + at, run.global_bytes);
      at += run.bytes;
    });
  }
}

bool GroupedCopy::perform(Machine& machine) {
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

}  // namespace tma_jit::emulator::async
