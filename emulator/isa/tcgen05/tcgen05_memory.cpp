// Allocation of tensor memory, its loads and stores by warps, and the fences.
#include <algorithm>

#include "emulator/fault.h"
#include "emulator/isa/tcgen05/handlers_tcgen05.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/tensor_memory.h"

namespace tma_jit::emulator::isa {
namespace {

// Returns pointers to registers, for reading or writing.
std::vector<u8*> pointers(Warp& warp, const std::vector<RegisterRef>& refs, std::vector<u8>& unused) {
  std::vector<u8*> result;
  result.reserve(refs.size());
  unused.resize(std::size_t{kLanes} * sizeof(u32));
  for (const RegisterRef& reg : refs) result.push_back(reg ? const_cast<u8*>(warp.values<u8>(reg)) : unused.data());
  return result;
}

void own(Warp& warp, TensorMemoryState& state, const Op& load) {
  if (warp.in_flight.empty()) warp.in_flight.resize(warp.machine().program().register_numbers());
  for (const RegisterRef& reg : load.list) {
    if (reg.bank != RegisterRef::registers) continue;
    const u32 index = reg.number();
    if (warp.in_flight[index]++ == 0) ++warp.in_flight_count;
    state.in_flight.push_back({index, &load});
  }
}

u32 uniform(const Warp& warp, const AddressOperand& operand, Mask active) {
  u32 address = 0;
  bool first = true;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((active >> lane & 1) == 0) continue;
    const u32 own = static_cast<u32>(warp.lane(operand.base, lane)) + static_cast<u32>(operand.offset);
    if (!first && own != address) {
      throw_fault(FaultKind::divergence, "lanes of a warp give different addresses of tensor memory, {:#x} and {:#x}",
                  address, own);
    }
    address = own;
    first = false;
  }
  return address;
}

matrix::TensorAccess access_of(const Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const Tcgen05MoveForm&>(*op.data);
  matrix::TensorAccess access = form.access;
  access.address = uniform(warp, form.address, active);
  return access;
}

// A warp's own loads and stores are in program order once it has waited for them.
check::Clock order_of(const TensorMemoryState& state) {
  check::Clock order = state.order;
  order.raise(state.loads, state.loaded);
  order.raise(state.stores, state.stored);
  return order;
}

void record(Warp& warp, TensorMemory& memory, const matrix::TensorAccess& access, const TensorAccessRecord& record) {
  for (const matrix::Region& region : matrix::footprint(access, warp.index() % 4)) memory.record(region, record);
}

}  // namespace

Step do_tcgen05_alloc(Warp& warp, const Op& op, Mask) {
  Machine& machine = warp.machine();
  TensorMemory& memory = tensor_memory_of(machine, warp.block());
  memory.use_group(static_cast<u32>(op.immediate));
  if (memory.relinquished) throw_fault(FaultKind::tensor_memory, "tcgen05.alloc after tcgen05.relinquish_alloc_permit");
  const auto columns = static_cast<u32>(warp.lane(op.b, 0));
  const auto column = memory.allocate(columns, op);
  if (!column) return warp.wait_for(&memory, Step::wait, columns);
  const SharedSpan span = machine.shared(warp.block(), static_cast<u32>(warp.address(op, op.a, 0)), sizeof(u32));
  const check::Stamp stamp{warp.clock.id, 0, 0, warp.clock.now(), &op};
  machine.record_shared(span, sizeof(u32), {true, stamp, &warp.clock.clocks, "tcgen05.alloc"});
  std::memcpy(span.bytes, &*column, sizeof(u32));
  machine.progress();
  return Step::next;
}

Step do_tcgen05_dealloc(Warp& warp, const Op& op, Mask) {
  TensorMemory& memory = tensor_memory_of(warp.machine(), warp.block());
  memory.use_group(static_cast<u32>(op.immediate));
  const TensorMemoryState& state = memory.state_of(warp);
  check::Clock seen = warp.clock.clocks.seen;
  seen.raise(state.loads, state.waited_loads);
  seen.raise(state.stores, state.waited_stores);
  memory.free(matrix::column_of(static_cast<u32>(warp.lane(op.a, 0))), static_cast<u32>(warp.lane(op.b, 0)), seen);
  return Step::next;
}

Step do_tcgen05_relinquish(Warp& warp, const Op&, Mask) {
  tensor_memory_of(warp.machine(), warp.block()).relinquished = true;
  return Step::next;
}

Step do_tcgen05_ld(Warp& warp, const Op& op, Mask active) {
  TensorMemory& memory = tensor_memory_of(warp.machine(), warp.block());
  TensorMemoryState& state = memory.state_of(warp);
  const matrix::TensorAccess access = access_of(warp, op, active);
  const check::Clock order = order_of(state);
  const check::Stamp stamp{state.loads, check::kManyLanes, 0, ++state.loaded, &op};
  record(warp, memory, access, {false, stamp, &order, &warp.clock.clocks.seen, "tcgen05.ld"});
  std::vector<u8> unused;
  const std::vector<u8*> registers = pointers(warp, op.list, unused);
  matrix::load(access, warp.index() % 4, memory.words(), registers);
  own(warp, state, op);
  return Step::next;
}

Step do_tcgen05_st(Warp& warp, const Op& op, Mask active) {
  TensorMemory& memory = tensor_memory_of(warp.machine(), warp.block());
  TensorMemoryState& state = memory.state_of(warp);
  const matrix::TensorAccess access = access_of(warp, op, active);
  const check::Clock order = order_of(state);
  const check::Stamp stamp{state.stores, check::kManyLanes, 0, ++state.stored, &op};
  record(warp, memory, access, {true, stamp, &order, &warp.clock.clocks.seen, "tcgen05.st"});
  std::vector<u8> unused;
  matrix::store(access, warp.index() % 4, memory.words(), pointers(warp, op.list, unused));
  warp.machine().progress();
  return Step::next;
}

Step do_tcgen05_wait(Warp& warp, const Op& op, Mask) {
  TensorMemoryState& state = tensor_memory_of(warp.machine(), warp.block()).state_of(warp);
  if (op.kind == 1) {
    state.waited_stores = state.stored;
    return Step::next;
  }
  state.waited_loads = state.loaded;
  for (const TensorMemoryState::Owned& owned : state.in_flight)
    if (--warp.in_flight[owned.index] == 0) --warp.in_flight_count;
  state.in_flight.clear();
  warp.taints.forget_loads();
  return Step::next;
}

Step do_tcgen05_fence_before(Warp& warp, const Op&, Mask) {
  const TensorMemoryState& state = tensor_memory_of(warp.machine(), warp.block()).state_of(warp);
  warp.clock.clocks.complete(state.loads, state.waited_loads);
  warp.clock.clocks.complete(state.stores, state.waited_stores);
  return Step::next;
}

Step do_tcgen05_fence_after(Warp& warp, const Op&, Mask) {
  tensor_memory_of(warp.machine(), warp.block()).state_of(warp).order.join(warp.clock.clocks.seen);
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
