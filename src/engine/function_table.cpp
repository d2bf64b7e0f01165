#include "engine/function_table.h"

#include <algorithm>

#include "engine/launch_swap.h"

namespace tma_jit::engine {
namespace {

constexpr std::size_t kFirstSlots = 16;  // a power of two

// Multiply-and-fold hash over the words; the constants are those of wyhash.
std::uint64_t hash_of(std::span<const std::uint64_t> words) {
  std::uint64_t hash = 0xa0761d6478bd642fULL;
  for (const std::uint64_t word : words) {
    const auto wide = static_cast<unsigned __int128>(hash ^ word) * 0xe7037ed1a0b428dbULL;
    hash = static_cast<std::uint64_t>(wide) ^ static_cast<std::uint64_t>(wide >> 64);
    hash += 0x8ebc6af09c88c6e3ULL;
  }
  return hash;
}

}  // namespace

FunctionEntry::FunctionEntry() = default;
FunctionEntry::~FunctionEntry() = default;

struct FunctionTable::Slots {
  struct Slot {
    std::uint64_t hash = 0;  // written before `entry`, read after it
    std::atomic<const FunctionEntry*> entry = nullptr;
  };
  explicit Slots(std::size_t count) : slots(count) {}
  std::vector<Slot> slots;
};

FunctionTable::FunctionTable() {
  all_.push_back(std::make_unique<Slots>(kFirstSlots));
  current_ = all_.back().get();
}

FunctionTable::~FunctionTable() = default;

const FunctionEntry* FunctionTable::find_in(const Slots& slots, std::span<const std::uint64_t> key) {
  const std::uint64_t hash = hash_of(key);
  const std::size_t mask = slots.slots.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slots::Slot& slot = slots.slots[at];
    const FunctionEntry* entry = slot.entry.load(std::memory_order_acquire);
    if (entry == nullptr) return nullptr;
    if (slot.hash == hash && std::equal(key.begin(), key.end(), entry->key.begin(), entry->key.end())) return entry;
  }
}

const FunctionEntry* FunctionTable::find(std::span<const std::uint64_t> key) const {
  return find_in(*current_.load(std::memory_order_acquire), key);
}

void FunctionTable::place(Slots& slots, const FunctionEntry* entry) {
  const std::uint64_t hash = hash_of(entry->key);
  const std::size_t mask = slots.slots.size() - 1;
  std::size_t at = hash & mask;
  while (slots.slots[at].entry.load(std::memory_order_relaxed) != nullptr) at = (at + 1) & mask;
  slots.slots[at].hash = hash;
  slots.slots[at].entry.store(entry, std::memory_order_release);
}

void FunctionTable::grow() {
  auto larger = std::make_unique<Slots>(all_.back()->slots.size() * 2);
  for (const FunctionEntry* entry : found_) place(*larger, entry);
  all_.push_back(std::move(larger));
  current_.store(all_.back().get(), std::memory_order_release);
}

const FunctionEntry* FunctionTable::insert(std::unique_ptr<FunctionEntry> entry) {
  const std::lock_guard lock(mutex_);
  if (const FunctionEntry* present = find_in(*all_.back(), entry->key); present != nullptr) return present;
  if ((entries_.size() + 1) * 2 > all_.back()->slots.size()) grow();
  const FunctionEntry* placed = entry.get();
  entries_.push_back(std::move(entry));
  found_.push_back(placed);
  place(*all_.back(), placed);
  return placed;
}

// A reader of an older, smaller array of slots may still find `before`.
void FunctionTable::replace(const FunctionEntry* before, const FunctionEntry* now) {
  const std::lock_guard lock(mutex_);
  std::ranges::replace(found_, before, now);
  for (Slots::Slot& slot : all_.back()->slots) {
    if (slot.entry.load(std::memory_order_relaxed) == before) slot.entry.store(now, std::memory_order_release);
  }
}

}  // namespace tma_jit::engine
