// Checks of accesses to global memory.
#include "emulator/check/access.h"
#include "emulator/fault.h"
#include "emulator/machine/accesses.h"
#include "emulator/machine/machine.h"

namespace tma_jit::emulator {
namespace {

[[noreturn]] void report_uninitialised(const Allocation& allocation, u64 address, u64 bytes,
                                       const check::Access& access) {
  const u64 offset = address - allocation.begin;
  throw Fault{FaultKind::uninitialised,
              fmt::format("{} reads global memory at {:#x} that nothing has written: bytes {} to {} of {} at {:#x}",
                          access.what, address, offset, offset + bytes - 1, allocation.name, allocation.begin),
              "memory that was allocated holds anything: copy to it, set it, or let a kernel write it before one reads "
              "it; of a buffer, see that pitch, extent and offset are the kernel's",
              {}};
}

}  // namespace

void record_access(Machine& machine, const Block& by, u64 address, u64 bytes, const check::Access& access) {
  machine.record_global(by, address, bytes, access);
}

void record_access(Machine& machine, Block& owner, u64 offset, u64 bytes, const check::Access& access) {
  const auto size = static_cast<u32>(bytes);
  machine.record_shared(machine.shared_at(owner, static_cast<u32>(offset), size), size, access);
}

void Machine::record_global(const Block& block, u64 address, u64 bytes, const check::Access& access) {
  if (!settings_.checks) return;
  const CachedAllocation* const allocation = cached_allocation(address, bytes);
  if (allocation == nullptr || allocation->written == nullptr) return;
  check::Written& written = *allocation->written;
  if (!access.write || access.updates) check_written(*allocation, address, bytes, access);
  if (access.write) written.mark(address - allocation->begin, bytes);
  if (!settings_.races) return;
  check::Access known = access;
  known.stamp.cluster = block.cluster().number;
  if (!earlier_.empty()) global_shadow_.check_waited(earlier_, address, bytes, known);
  global_shadow_.record(address, bytes, known);
}

std::shared_ptr<const LaunchRecord> Machine::record() const {
  if (!settings_.races) return nullptr;
  auto record = std::make_shared<LaunchRecord>();
  global_shadow_.describe_to(*record);
  return record;
}

// If a part of a unit is written, the rest may be unused padding, so that reading it is only a warning.
void Machine::check_written(const CachedAllocation& allocation, u64 address, u64 bytes, const check::Access& access) {
  const check::Written& written = *allocation.written;
  const u64 begin = address - allocation.begin, end = begin + bytes;
  for (u64 at = begin; at < end;) {
    const u64 missing = written.first_missing(at, end - at);
    if (missing == end) return;
    const u64 unit = begin + (missing - begin) / access.unit * access.unit;
    const u64 size = std::min<u64>(access.unit, end - unit);
    const Allocation whole = memory_.find(address, bytes);
    if (!written.has_any(unit, size)) report_uninitialised(whole, allocation.begin + unit, size, access);
    warn(fmt::format("{} of {} bytes at a time reads some that nothing has written, besides others, in {} at {:#x}",
                     access.what, access.unit, whole.name, whole.begin));
    at = unit + size;
  }
}

}  // namespace tma_jit::emulator
