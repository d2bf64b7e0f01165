#include "emulator/check/written.h"

#include <algorithm>
#include <bit>
#include <new>

namespace tma_jit::emulator::check {
namespace {

constexpr u64 kBits = 64;

}  // namespace

// Uses calloc, because the system provides large zeroed blocks that take no memory until they are written.
Written::Written(u64 bytes)
    : bytes_(bytes), bits_(static_cast<u64*>(std::calloc(bytes / kBits + 1, sizeof(u64)))), missing_(bytes) {}

std::unique_ptr<Written> Written::make(u64 bytes) {
  std::unique_ptr<Written> made(new (std::nothrow) Written(bytes));
  return made != nullptr && made->bits_ != nullptr ? std::move(made) : nullptr;
}

template <class F> void Written::each_word(u64 offset, u64 bytes, F f) {
  const u64 end = offset + bytes;
  while (offset < end) {
    const u64 index = offset / kBits, first = offset % kBits;
    const u64 count = std::min(kBits - first, end - offset);
    const u64 mask = (count == kBits ? ~u64{0} : (u64{1} << count) - 1) << first;
    if (f(index, mask)) return;
    offset += count;
  }
}

void Written::mark(u64 offset, u64 bytes) {
  if (complete()) return;
  u64 fresh = 0;
  each_word(offset, bytes, [&](u64 index, u64 mask) {
    if ((word(index) & mask) == mask) return false;
    const u64 before = std::atomic_ref<u64>(bits_.get()[index]).fetch_or(mask, std::memory_order_relaxed);
    fresh += static_cast<u64>(std::popcount(mask & ~before));
    return false;
  });
  if (fresh == 0) return;
  u64 missing = missing_.load(std::memory_order_relaxed);
  while (!missing_.compare_exchange_weak(missing, missing - std::min(missing, fresh), std::memory_order_relaxed)) {
  }
}

u64 Written::first_missing(u64 offset, u64 bytes) const {
  u64 first = offset + bytes;
  if (complete()) return first;
  each_word(offset, bytes, [&](u64 index, u64 mask) {
    const u64 missing = mask & ~word(index);
    if (missing != 0) first = index * kBits + static_cast<u64>(std::countr_zero(missing));
    return missing != 0;
  });
  return first;
}

bool Written::has_any(u64 offset, u64 bytes) const {
  bool any = complete();
  each_word(offset, bytes, [&](u64 index, u64 mask) {
    any = any || (word(index) & mask) != 0;
    return any;
  });
  return any;
}

std::vector<u64> Written::state() const {
  std::vector<u64> state(bits_.get(), bits_.get() + bytes_ / kBits + 1);
  state.push_back(missing_);
  return state;
}

void Written::set_state(const std::vector<u64>& state) {
  std::copy(state.begin(), state.end() - 1, bits_.get());
  missing_ = state.back();
}

}  // namespace tma_jit::emulator::check
