#include "emulator/isa/memory/vector_access.h"

#include <algorithm>
#include <cstring>

#include "emulator/isa/memory/handlers_memory.h"
#include "emulator/machine/accesses.h"
#include "emulator/machine/address.h"
#include "emulator/machine/machine.h"

namespace tma_jit::emulator::isa {
namespace {

u64 bytes_of(const Op& op) {
  return static_cast<u64>(ptx::size_of(op.type)) * op.vector;
}

// Finds the addresses of the active lanes. Returns false if they are not all aligned.
bool locate(Warp& warp, const Op& op, Mask active, LaneAddresses& lanes) {
  if (static_cast<Ordering>(op.kind) != Ordering::weak) return false;
  static const LaneFunction addresses = find_lanes("addresses");
  if (op.a.width == sizeof(u64)) {
    addresses(&lanes, warp.values<u64>(op.a), &op.offset, &active);
  } else if (op.a.width == sizeof(u32)) {
    u64 wide[kLanes];
    std::copy_n(warp.values<u32>(op.a), kLanes, wide);
    addresses(&lanes, wide, &op.offset, &active);
  } else {
    return false;
  }
  return (lanes.any & (bytes_of(op) - 1)) == 0;
}

bool in_global(Warp& warp, const Op& op, bool write, const LaneAddresses& lanes) {
  if (op.space != ptx::Space::generic && op.space != ptx::Space::global) return false;
  return op.a.width == sizeof(u64) &&
         warp.machine().holds_global(lanes.low, lanes.high - lanes.low + bytes_of(op), write);
}

// Whether the lanes access the shared memory of their own block, where no access of theirs is recorded; if so, replaces
// their addresses by those of the host.
bool in_shared(Warp& warp, const Op& op, bool write, LaneAddresses& lanes) {
  Machine& machine = warp.machine();
  if (machine.settings().races || machine.observer() != nullptr) return false;
  const bool generic = op.space == ptx::Space::generic && is_shared(lanes.low) && is_shared(lanes.high);
  if (!generic && op.space != ptx::Space::shared) return false;
  Block& block = warp.block();
  if (lanes.high - lanes.low > block.shared.size()) return false;
  const u64 size = lanes.high - lanes.low + bytes_of(op);
  const u32 low = static_cast<u32>(lanes.low), offset = low & kOffsetMask;
  if (low >> kRankShift != block.rank() || offset < kReservedShared || offset + size > block.shared.size())
    return false;
  if (write && offset < block.end_of_mbarriers && offset + size > block.first_mbarrier) return false;
  const u64 shift = reinterpret_cast<u64>(block.shared.data()) + offset - lanes.low;
  for (u64& at : lanes.at) at += shift;
  return true;
}

void record(Warp& warp, const Op& op, Mask active, const LaneAddresses& lanes, bool write) {
  if (!warp.machine().settings().checks) return;
  const check::Access access = generic_access(warp, op, write, write ? "a store" : "a load");
  GlobalAccesses accesses(warp.machine(), warp.block(), access);
  const u64 bytes = access.unit;
  const u64 stride = lanes.at[1] - lanes.at[0];
  if (active == kAllLanes && lanes.irregular == 0 && (stride == bytes || stride == 0)) {
    accesses.add(lanes.low, lanes.high - lanes.low + bytes);
  } else {
    for_each(active, [&](int i) { accesses.add(lanes.at[i], bytes); });
  }
  accesses.finish();
}

// One element of every active lane; T is its type in memory, R in the register.
struct Move {
  const LaneAddresses& lanes;
  u64 element;
  Mask active;
};

template <class T, class R> void gather(const Move& move, R* to) {
  const auto load = [&move](int i) {
    T value;
    std::memcpy(&value, reinterpret_cast<const u8*>(move.lanes.at[i] + move.element * sizeof(T)), sizeof value);
    return static_cast<R>(value);
  };
  const u64 stride = move.lanes.at[1] - move.lanes.at[0];
  if (move.active == kAllLanes && move.lanes.irregular == 0 && stride == 0) {
    const R value = load(0);
    for (int i = 0; i < kLanes; ++i) to[i] = value;
    return;
  }
  if (move.active == kAllLanes && move.lanes.irregular == 0 && stride == sizeof(T)) {
    T values[kLanes];
    std::memcpy(values, reinterpret_cast<const u8*>(move.lanes.at[0] + move.element * sizeof(T)), sizeof values);
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): a load of s8 repeats the sign
    for (int i = 0; i < kLanes; ++i) to[i] = static_cast<R>(values[i]);
    return;
  }
  for_each(move.active, [&](int i) { to[i] = load(i); });
}

template <class T, class R> void scatter(const Move& move, const R* from) {
  for_each(move.active, [&](int i) {
    const T value = static_cast<T>(from[i]);
    std::memcpy(reinterpret_cast<u8*>(move.lanes.at[i] + move.element * sizeof(T)), &value, sizeof value);
  });
}

// Calls f with a value of the element's type; signed types are sign-extended.
template <class F> void with_type(ptx::Type type, F f) {
  switch (type) {
    case ptx::Type::s8: return f(s8{});
    case ptx::Type::s16: return f(s16{});
    case ptx::Type::s32: return f(s32{});
    default: break;
  }
  switch (ptx::size_of(type)) {
    case 1: return f(u8{});
    case 2: return f(u16{});
    case 4: return f(u32{});
    default: return f(u64{});
  }
}

template <class T> void gather_to(Warp& warp, const RegisterRef& reg, const Move& move) {
  switch (reg.width) {
    case 2: return gather<T>(move, warp.writable<u16>(reg));
    case 4: return gather<T>(move, warp.writable<u32>(reg));
    default: return gather<T>(move, warp.writable<u64>(reg));
  }
}

template <class T> void scatter_from(const Warp& warp, const RegisterRef& reg, const Move& move) {
  switch (reg.width) {
    case 2: return scatter<T>(move, warp.values<u16>(reg));
    case 4: return scatter<T>(move, warp.values<u32>(reg));
    default: return scatter<T>(move, warp.values<u64>(reg));
  }
}

bool plain(const RegisterRef& reg) {
  return reg.width == 2 || reg.width == 4 || reg.width == 8;
}

bool all_plain(const Op& op) {
  for (const RegisterRef& reg : op.list) {
    if (reg && !plain(reg)) return false;
  }
  return ptx::size_of(op.type) <= 8;
}

}  // namespace

check::Access generic_access(const Warp& warp, const Op& op, bool write, std::string_view what) {
  const u8 flags = static_cast<Ordering>(op.kind) != Ordering::weak ? check::Access::kStrong : 0;
  check::Access access{
      write, {warp.clock.id, check::kManyLanes, flags, warp.clock.now(), &op}, &warp.clock.clocks, what};
  access.unit = static_cast<u32>(ptx::size_of(op.type)) * op.vector;
  return access;
}

bool load_together(Warp& warp, const Op& op, Mask active) {
  LaneAddresses lanes;
  if (!all_plain(op) || !locate(warp, op, active, lanes)) return false;
  if (in_global(warp, op, false, lanes)) {
    record(warp, op, active, lanes, false);
  } else if (!in_shared(warp, op, false, lanes)) {
    return false;
  }
  for (u32 k = 0; k < op.vector; ++k) {
    if (!op.list[k]) continue;
    with_type(op.type, [&]<class T>(T) { gather_to<T>(warp, op.list[k], {lanes, k, active}); });
  }
  return true;
}

// Storing element by element would let a lane's second element overwrite a later lane's first one if lanes overlap.
// Vectors are aligned to their size, so that lanes overlap fully or not at all.
bool store_together(Warp& warp, const Op& op, Mask active) {
  LaneAddresses lanes;
  if (!all_plain(op) || !locate(warp, op, active, lanes)) return false;
  for (u32 k = 0; k < op.vector; ++k) {
    if (!op.list[k]) return false;
  }
  if (in_global(warp, op, true, lanes)) {
    record(warp, op, active, lanes, true);
  } else if (!in_shared(warp, op, true, lanes)) {
    return false;
  }
  for (u32 k = 0; k < op.vector; ++k) {
    with_type(op.type, [&]<class T>(T) { scatter_from<T>(warp, op.list[k], {lanes, k, active}); });
  }
  return true;
}

}  // namespace tma_jit::emulator::isa
