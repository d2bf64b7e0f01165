#include "emulator/machine/global_memory.h"

#include <cstring>
#include <new>

#include <fmt/format.h>

namespace tma_jit::emulator {
namespace {

constexpr u64 kAlignment = 512;
constexpr u64 kGuard = 4096;     // bytes on both sides of an allocation, so that overruns hit no other allocation
constexpr u64 kHeapGuard = 256;  // the same for allocations by kernels, which may be small and many
constexpr u8 kPoison = 0xCB;
constexpr u64 kHeap = u64{8} << 20;  // CUDA C++ Programming Guide 13.0, "Heap Memory Allocation"
// Overhead of each allocation on the kernels' heap. The device's value is not documented; without one, a kernel that
// leaks single bytes would cause eight million allocations on the host.
constexpr u64 kHeapOverhead = 64;

}  // namespace

u64 GlobalMemory::allocate(u64 bytes) {
  return allocate(bytes, kGuard);
}

u64 GlobalMemory::allocate(u64 bytes, u64 guard) {
  if (bytes > (u64{1} << 40)) return 0;
  Owned owned;
  owned.storage.reset(new (std::nothrow) u8[bytes + 2 * guard + kAlignment]);
  owned.written = check::Written::make(bytes);
  if (owned.storage == nullptr || owned.written == nullptr) return 0;
  const u64 raw = reinterpret_cast<u64>(owned.storage.get());
  const u64 address = (raw + guard + kAlignment - 1) / kAlignment * kAlignment;
  std::memset(reinterpret_cast<void*>(address), kPoison, bytes);
  const std::lock_guard lock(mutex_);
  allocations_[address] = {address, address + bytes, false, fmt::format("an allocation of {} bytes", bytes),
                           owned.written.get()};
  owned_[address] = std::move(owned);
  allocated_ += bytes;
  return address;
}

bool GlobalMemory::free(u64 address) {
  const std::lock_guard lock(mutex_);
  const auto found = owned_.find(address);
  if (found == owned_.end() || heap_.contains(address)) return false;
  const Allocation& allocation = allocations_.at(address);
  allocated_ -= allocation.end - allocation.begin;
  allocations_.erase(address);
  owned_.erase(found);
  return true;
}

void GlobalMemory::mark_written(u64 address, u64 bytes) {
  const std::lock_guard lock(mutex_);
  const Allocation* const allocation = before(address);
  if (allocation == nullptr || !allocation->holds(address, bytes) || allocation->written == nullptr) return;
  allocation->written->mark(address - allocation->begin, bytes);
}

void GlobalMemory::assume_all_written() {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, owned] : owned_) owned.written->assume_all();
}

u64 GlobalMemory::allocate_in_kernel(u64 bytes) {
  if (bytes == 0 || bytes > kHeap) return 0;
  const u64 taken = bytes + kHeapOverhead;
  {
    const std::lock_guard lock(mutex_);
    if (taken > kHeap - heap_bytes_) return 0;
    heap_bytes_ += taken;
  }
  const u64 address = allocate(bytes, kHeapGuard);
  const std::lock_guard lock(mutex_);
  if (address == 0) {
    heap_bytes_ -= taken;
    return 0;
  }
  heap_[address] = taken;
  allocations_.at(address).name = fmt::format("{} bytes that a kernel allocated", bytes);
  return address;
}

bool GlobalMemory::free_in_kernel(u64 address) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = heap_.find(address);
    if (found == heap_.end()) return false;
    heap_bytes_ -= found->second;
    heap_.erase(found);
  }
  return free(address);
}

void GlobalMemory::register_external(u64 address, u64 bytes, std::string name, bool read_only) {
  const std::lock_guard lock(mutex_);
  allocations_[address] = {address, address + bytes, read_only, std::move(name), nullptr};
}

void GlobalMemory::unregister_external(u64 address) {
  const std::lock_guard lock(mutex_);
  allocations_.erase(address);
}

const Allocation* GlobalMemory::before(u64 address) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  return &(--after)->second;
}

Allocation GlobalMemory::find(u64 address, u64 bytes) const {
  const std::lock_guard lock(mutex_);
  const Allocation* allocation = before(address);
  return allocation != nullptr && allocation->holds(address, bytes) ? *allocation : Allocation{};
}

std::string GlobalMemory::describe(u64 address) const {
  const std::lock_guard lock(mutex_);
  const Allocation* allocation = before(address);
  constexpr u64 kNear = u64{1} << 24;
  if (allocation != nullptr && address < allocation->end) {
    return fmt::format("{} bytes before the end of {} at {:#x}", allocation->end - address, allocation->name,
                       allocation->begin);
  }
  if (allocation != nullptr && address - allocation->end < kNear) {
    return fmt::format("{} bytes past the end of {} at {:#x}", address - allocation->end, allocation->name,
                       allocation->begin);
  }
  const auto next = allocations_.upper_bound(address);
  if (next != allocations_.end() && next->first - address < kNear) {
    return fmt::format("{} bytes before {} at {:#x}", next->first - address, next->second.name, next->first);
  }
  return "near no allocation";
}

u64 GlobalMemory::allocated() const {
  const std::lock_guard lock(mutex_);
  return allocated_;
}

std::vector<Allocation> GlobalMemory::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Allocation> list;
  for (const auto& [address, allocation] : allocations_) list.push_back(allocation);
  return list;
}

}  // namespace tma_jit::emulator
