#include "emulator/isa/tensormap/handlers_tensormap.h"

#include <bit>
#include <cstring>

#include "emulator/fault.h"
#include "emulator/machine/address.h"
#include "emulator/machine/machine.h"

namespace tma_jit::emulator::isa {
namespace {

constexpr u32 kMapBytes = sizeof(tensor::TensorMap);

void check_alignment(u64 address) {
  if (address % 128 != 0) {
    throw_fault(FaultKind::alignment,
                "a tensor map at {:#x}; instructions that change one need a multiple of 128 bytes", address);
  }
}

u8* shared_map(Warp& warp, const Op& op, u32 address, u8 lane, bool write) {
  check_alignment(address & kOffsetMask);
  Machine& machine = warp.machine();
  const SharedSpan span = machine.shared(warp.block(), address, kMapBytes);
  const check::Stamp stamp{warp.clock.id, lane, 0, warp.clock.now(), &op};
  machine.record_shared(span, kMapBytes, {false, stamp, &warp.clock.clocks, "a change of a tensor map"});
  if (write) machine.record_shared(span, kMapBytes, {true, stamp, &warp.clock.clocks, "a change of a tensor map"});
  return span.bytes;
}

u8* global_map(Warp& warp, const Op& op, u64 address, bool updates) {
  Machine& machine = warp.machine();
  u8* const bytes = machine.global(address, kMapBytes, true);
  const check::Stamp stamp{warp.clock.id, check::kManyLanes, 0, warp.clock.now(), &op};
  check::Access access{true, stamp, &warp.clock.clocks, "a change of a tensor map"};
  access.updates = updates;
  machine.record_global(warp.block(), address, kMapBytes, access);
  return bytes;
}

}  // namespace

Step do_tensormap_replace(Warp& warp, const Op& op, Mask active) {
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const u64 address = warp.address(op, op.a, lane);
    const bool shared = op.space == ptx::Space::shared || (op.space == ptx::Space::generic && is_shared(address));
    if (!shared) check_alignment(address);
    u8* bytes = shared ? shared_map(warp, op, static_cast<u32>(address), static_cast<u8>(lane), true)
                       : global_map(warp, op, address, true);
    if (!shared) warp.machine().tensor_maps().changed(address, warp, op);
    tensor::replace(bytes, static_cast<tensor::Field>(op.kind), static_cast<u32>(op.immediate), warp.lane(op.b, lane));
  }
  warp.machine().progress();
  return Step::next;
}

// Executed by the whole warp: earlier modifications by single lanes must be ordered before it.
Step do_tensormap_copy(Warp& warp, const Op& op, Mask active) {
  const int lane = std::countr_zero(active);
  const u64 target = warp.address(op, op.a, lane);
  const u64 source = warp.lane(op.b, lane) + op.immediate;
  check_alignment(target);
  std::memcpy(global_map(warp, op, target, false),
              shared_map(warp, op, static_cast<u32>(source), check::kManyLanes, false), kMapBytes);
  warp.machine().tensor_maps().changed(target, warp, op);
  warp.machine().tensor_maps().release(warp);
  warp.machine().progress();
  return Step::next;
}

Step do_tensormap_release(Warp& warp, const Op&, Mask) {
  warp.machine().tensor_maps().release(warp);
  return Step::next;
}

Step do_tensormap_acquire(Warp& warp, const Op& op, Mask active) {
  for (Mask rest = active; rest != 0; rest &= rest - 1)
    warp.machine().tensor_maps().acquire(warp.address(op, op.a, std::countr_zero(rest)), warp, op);
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
