// Loads, stores, atomics and fences of the generic proxy.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "emulator/fault.h"
#include "emulator/isa/memory/handlers_memory.h"
#include "emulator/isa/memory/vector_access.h"
#include "emulator/machine/address.h"
#include "emulator/machine/atomic.h"
#include "emulator/machine/machine.h"
#include "emulator/numeric/float_bits.h"

namespace tma_jit::emulator::isa {
namespace {

using ptx::Space;

bool acquires(Ordering ordering) {
  return ordering == Ordering::acquire || ordering == Ordering::acquire_release;
}
bool releases(Ordering ordering) {
  return ordering == Ordering::release || ordering == Ordering::acquire_release;
}

[[noreturn]] void misaligned(const Op& op, u64 address, u32 bytes) {
  throw Fault{FaultKind::alignment,
              fmt::format("{} of {} bytes at {:#x}, which is {} bytes past a multiple of {}", op.source->modifiers[0],
                          bytes, address, address % bytes, bytes),
              {},
              {}};
}

// The host memory behind the address of one lane.
struct Target {
  u8* bytes;
  SharedSpan span{};  // set for shared memory only
};

struct Accessor {
  Warp& warp;
  const Op& op;
  bool write;
  u32 bytes;
  std::string_view what;
  bool updates = false;  // the written value depends on the previous one
  bool checks = true;

  // `repeated` means that another lane of the instruction has written the same value there.
  Target resolve(u64 address, int lane, bool repeated = false) const {
    if ((address & (bytes - 1)) != 0) misaligned(op, address, bytes);
    Space space = op.space;
    if (space == Space::generic)
      space = is_shared(address) ? Space::shared : is_local(address) ? Space::local : Space::global;
    if (space == Space::shared) return shared(static_cast<u32>(address), lane, repeated);
    if (space == Space::local) return {warp.local_at(static_cast<u32>(address), bytes, lane)};
    return {global(address)};
  }

  u8* global(u64 address) const {
    Machine& machine = warp.machine();
    u8* const at = machine.global(address, bytes, write);
    if (checks && machine.settings().checks) {
      check::Access access = generic_access(warp, op, write, what);
      access.updates = updates;
      machine.record_global(warp.block(), address, bytes, access);
    }
    return at;
  }

  Target shared(u32 address, int lane, bool repeated) const {
    Machine& machine = warp.machine();
    const SharedSpan span = machine.shared(warp.block(), address, bytes);
    if (checks && machine.settings().checks) {
      check::Access access = generic_access(warp, op, write, what);
      access.stamp.lane = static_cast<u8>(lane);
      if (repeated) access.stamp.flags |= check::Access::kRepeated;
      if (updates) {
        check::Access read = access;
        read.write = false;
        machine.record_shared(span, bytes, read);
      }
      machine.record_shared(span, bytes, access);
    }
    if (write) machine.check_mbarrier_store(span, bytes);
    return {span.bytes, span};
  }
};

u64 read_element(const u8* bytes, ptx::Type type) {
  u64 value = 0;
  switch (ptx::size_of(type)) {
    case 1: value = *bytes; break;
    case 2: {
      u16 x;
      std::memcpy(&x, bytes, 2);
      value = x;
      break;
    }
    case 4: {
      u32 x;
      std::memcpy(&x, bytes, 4);
      value = x;
      break;
    }
    default: std::memcpy(&value, bytes, 8); break;
  }
  switch (type) {
    case ptx::Type::s8: return static_cast<u64>(s64{static_cast<s8>(value)});
    case ptx::Type::s16: return static_cast<u64>(s64{static_cast<s16>(value)});
    case ptx::Type::s32: return static_cast<u64>(s64{static_cast<s32>(value)});
    default: return value;
  }
}

void write_element(u8* bytes, ptx::Type type, u64 value) {
  std::memcpy(bytes, &value, static_cast<std::size_t>(std::min(ptx::size_of(type), 8)));
}

constexpr u32 kWide = 16;  // size of an element that does not fit u64

void load_element(Warp& warp, const RegisterRef& reg, int lane, const u8* bytes, ptx::Type type) {
  if (ptx::size_of(type) != kWide) return warp.set_lane(reg, lane, read_element(bytes, type));
  if (reg) std::memcpy(warp.writable<u8>(reg) + std::size_t{kWide} * static_cast<u32>(lane), bytes, kWide);
}

void store_element(const Warp& warp, const RegisterRef& reg, int lane, u8* bytes, ptx::Type type) {
  if (ptx::size_of(type) != kWide) return write_element(bytes, type, warp.lane(reg, lane));
  std::memcpy(bytes, warp.values<u8>(reg) + std::size_t{kWide} * static_cast<u32>(lane), kWide);
}

// f32 additions flush subnormal numbers in global memory but not in shared memory: ptxas emits .FTZ instructions for
// the former and loops of ordinary additions for the latter. PTX ISA 9.0, "atom".
u64 combined(const Op& op, const Target& target, u64 old, u64 b, u64 c) {
  const auto kind = static_cast<Atomic>(op.immediate);
  if (kind != Atomic::add || op.type != ptx::Type::f32 || target.span.block != nullptr)
    return atomic_value(kind, op.type, old, b, c);
  const auto flush = [](u64 bits) { return numeric::flushed(std::bit_cast<float>(static_cast<u32>(bits))); };
  return std::bit_cast<u32>(numeric::flushed(flush(old) + flush(b)));
}

// The synchronisation of a strong access, through the clocks released at its location. A relaxed write releases the
// clocks of earlier fences, and a relaxed read is acquired by later fences. PTX ISA 9.0, "Memory Consistency Model:
// Release and Acquire Patterns". Scopes are assumed to include all threads involved.
template <class Map> void publish(Warp& warp, Map& locations, typename Map::key_type location, Ordering ordering) {
  check::Actor& actor = warp.clock;
  if (!releases(ordering) && !actor.has_fenced) return;
  locations[location].release(releases(ordering) ? actor.clocks : actor.fenced, warp.block().cluster().number);
}

template <class Map>
void observe(Warp& warp, const Map& locations, typename Map::key_type location, Ordering ordering) {
  const auto found = locations.find(location);
  if (found == locations.end()) return;
  check::Actor& actor = warp.clock;
  if (!acquires(ordering)) actor.has_observed = true;
  found->second.acquire(acquires(ordering) ? actor.clocks : actor.observed, warp.block().cluster().number);
}

void synchronise(Warp& warp, const Target& target, Ordering ordering, bool write) {
  if (ordering == Ordering::weak) return;
  const SharedSpan& span = target.span;
  if (span.block != nullptr && write) return publish(warp, span.block->published, span.offset, ordering);
  if (span.block != nullptr) return observe(warp, span.block->published, span.offset, ordering);
  auto& locations = warp.machine().published();
  const auto location = reinterpret_cast<u64>(target.bytes);
  return write ? publish(warp, locations, location, ordering) : observe(warp, locations, location, ordering);
}

// Finds the lanes of a store that write the same value as an earlier lane. Vectors are aligned to their size, so that
// lanes overlap fully or not at all.
class Repeats {
 public:
  Repeats(const Warp& warp, const Op& op, u32 bytes) : warp_(warp), op_(op), bytes_(bytes) {}
  bool add(u64 address, int lane) {
    const u64 bit = u64{1} << (address / bytes_ % 64);
    const bool known = (seen_ & bit) != 0 && repeats(address, lane);
    seen_ |= bit;
    addresses_[count_] = address;
    lanes_[count_++] = lane;
    return known;
  }

 private:
  bool repeats(u64 address, int lane) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (addresses_[i] == address) return same_value(lanes_[i], lane);
    return false;
  }
  bool same_value(int first, int second) const {
    return std::ranges::all_of(op_.list, [&](const RegisterRef& reg) {
      const u8* const values = warp_.values<u8>(reg);
      const auto value = [&](int lane) { return values + std::size_t{reg.width} * static_cast<u32>(lane); };
      return std::memcmp(value(first), value(second), bytes_ / op_.vector) == 0;
    });
  }

  const Warp& warp_;
  const Op& op_;
  const u32 bytes_;
  u64 seen_ = 0;
  std::size_t count_ = 0;
  std::array<u64, kLanes> addresses_{};
  std::array<int, kLanes> lanes_{};
};

}  // namespace

namespace {

// Returns the report of a read of unwritten memory; null if all of it is written. Rethrows other faults.
template <class F> std::shared_ptr<Fault> unwritten(const F& read) {
  try {
    read();
  } catch (const Fault& fault) {
    if (fault.kind != FaultKind::uninitialised) throw;
    return std::make_shared<Fault>(fault);
  }
  return nullptr;
}

// Returns the memory behind the address of one lane. If some of it is unwritten, taints the unwritten elements.
Target loaded(Warp& warp, const Op& op, const Accessor& whole, int lane) {
  const u64 address = warp.address(op, op.a, lane);
  Target target{};
  if (unwritten([&] { target = whole.resolve(address, lane); }) == nullptr) return target;
  Accessor element = whole;
  element.bytes = whole.bytes / op.vector;
  for (u32 k = 0; k < op.vector; ++k) {
    auto report = unwritten([&] { element.resolve(address + u64{k} * element.bytes, lane); });
    if (report == nullptr) continue;
    if (report->location.empty())
      report->location = fmt::format("  read by lane {} at {}", lane, warp.machine().location_of(op));
    warp.taints.put(op.list[k], 0, {Mask{1} << lane, nullptr, std::move(report)});
  }
  Accessor unchecked = whole;
  unchecked.checks = false;
  return unchecked.resolve(address, lane);
}

}  // namespace

Step do_load(Warp& warp, const Op& op, Mask active) {
  bool together = false;
  if (unwritten([&] { together = load_together(warp, op, active); }) == nullptr && together) return Step::next;
  const u32 size = static_cast<u32>(ptx::size_of(op.type));
  const Accessor accessor{warp, op, false, size * op.vector, "a load"};
  const auto ordering = static_cast<Ordering>(op.kind);
  for_each(active, [&](int i) {
    const Target target = loaded(warp, op, accessor, i);
    for (u32 k = 0; k < op.vector; ++k)
      load_element(warp, op.list[k], i, target.bytes + std::size_t{k} * size, op.type);
    synchronise(warp, target, ordering, false);
  });
  return Step::next;
}

Step do_store(Warp& warp, const Op& op, Mask active) {
  const u32 size = static_cast<u32>(ptx::size_of(op.type));
  const Accessor accessor{warp, op, true, size * op.vector, "a store"};
  const auto ordering = static_cast<Ordering>(op.kind);
  if (!store_together(warp, op, active)) {
    Repeats repeats(warp, op, accessor.bytes);
    for_each(active, [&](int i) {
      const u64 address = warp.address(op, op.a, i);
      const Target target = accessor.resolve(address, i, repeats.add(address, i));
      for (u32 k = 0; k < op.vector; ++k)
        store_element(warp, op.list[k], i, target.bytes + std::size_t{k} * size, op.type);
      synchronise(warp, target, ordering, true);
    });
  }
  if (releases(ordering)) warp.clock.tick();
  warp.machine().progress();
  return Step::next;
}

Step do_convert_address(Warp& warp, const Op& op, Mask active) {
  const bool to = op.kind == 1;
  const u64 window = op.space == Space::shared ? kSharedWindow : op.space == Space::local ? kLocalWindow : 0;
  for_each(active, [&](int i) {
    const u64 address = warp.lane(op.a, i);
    warp.set_lane(op.d, i, to ? address & ~(window != 0 ? kWindowMask : 0) : address | window);
  });
  return Step::next;
}

Step do_is_space(Warp& warp, const Op& op, Mask active) {
  Mask holds = 0;
  for_each(active, [&](int i) {
    const u64 address = warp.lane(op.a, i);
    const Space space = is_shared(address) ? Space::shared : is_local(address) ? Space::local : Space::global;
    if (space == op.space) holds |= Mask{1} << i;
  });
  warp.set_predicate(op.d, active, holds);
  return Step::next;
}

Step do_atomic(Warp& warp, const Op& op, Mask active) {
  const u32 size = static_cast<u32>(ptx::size_of(op.type));
  const bool reads = static_cast<Atomic>(op.immediate) != Atomic::exchange;
  const Accessor accessor{warp, op, true, size, "an atomic operation", reads};
  const auto ordering = static_cast<Ordering>(op.kind);
  bool changes = false;  // if false, the operation left memory unchanged and counts as a poll
  for_each(active, [&](int i) {
    const Target target = accessor.resolve(warp.address(op, op.a, i), i);
    synchronise(warp, target, ordering, false);
    const u64 old = read_element(target.bytes, op.type);
    write_element(target.bytes, op.type, combined(op, target, old, warp.lane(op.b, i), op.c ? warp.lane(op.c, i) : 0));
    changes = changes || read_element(target.bytes, op.type) != old;
    warp.set_lane(op.d, i, old);
    synchronise(warp, target, ordering, true);
  });
  if (releases(ordering)) warp.clock.tick();
  if (changes) warp.machine().progress();
  return Step::next;
}

Step do_atomic_wide(Warp& warp, const Op& op, Mask active) {
  using Value = std::array<u64, kWide / sizeof(u64)>;
  const bool compares = static_cast<Atomic>(op.immediate) == Atomic::compare_exchange;
  const Accessor accessor{warp, op, true, kWide, "an atomic operation", compares};
  const auto ordering = static_cast<Ordering>(op.kind);
  bool changes = false;
  for_each(active, [&](int i) {
    const auto value = [&](const RegisterRef& reg) {
      Value bits;
      std::memcpy(bits.data(), warp.values<u8>(reg) + std::size_t{kWide} * static_cast<u32>(i), kWide);
      return bits;
    };
    const Target target = accessor.resolve(warp.address(op, op.a, i), i);
    synchronise(warp, target, ordering, false);
    Value old;
    std::memcpy(old.data(), target.bytes, kWide);
    const Value next = !compares ? value(op.b) : old == value(op.b) ? value(op.c) : old;
    std::memcpy(target.bytes, next.data(), kWide);
    changes = changes || next != old;
    load_element(warp, op.d, i, reinterpret_cast<const u8*>(old.data()), op.type);
    synchronise(warp, target, ordering, true);
  });
  if (releases(ordering)) warp.clock.tick();
  if (changes) warp.machine().progress();
  return Step::next;
}

Step do_atomic_vector(Warp& warp, const Op& op, Mask active) {
  const u32 size = static_cast<u32>(ptx::size_of(op.type));
  const Accessor accessor{warp, op, true, size * op.vector, "an atomic operation", true};
  const auto ordering = static_cast<Ordering>(op.kind);
  bool changes = false;
  for_each(active, [&](int i) {
    const Target target = accessor.resolve(warp.address(op, op.a, i), i);
    u8* bytes = target.bytes;
    synchronise(warp, target, ordering, false);
    for (std::size_t k = 0; k < op.list.size(); ++k, bytes += size) {
      const u64 old = read_element(bytes, op.type);
      write_element(bytes, op.type, combined(op, target, old, warp.lane(op.list[k], i), 0));
      changes = changes || read_element(bytes, op.type) != old;
      if (!op.coordinates.empty()) warp.set_lane(op.coordinates[k], i, old);
    }
    synchronise(warp, target, ordering, true);
  });
  if (releases(ordering)) warp.clock.tick();
  if (changes) warp.machine().progress();
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
