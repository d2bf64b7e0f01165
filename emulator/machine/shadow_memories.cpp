// The cells of shared and of global memory, and the names of addresses in reports.
#include <fmt/format.h>

#include "emulator/check/shadow.h"
#include "emulator/machine/block.h"
#include "emulator/machine/machine.h"

namespace tma_jit::emulator {

void SharedShadow::resize(std::size_t bytes) {
  cells_.assign((bytes + kChunk - 1) / kChunk, 0);
}

void SharedShadow::record(u32 offset, u32 bytes, const check::Access& access) {
  if (!cells_.empty()) check::Shadow::record(cells_.data(), kChunk, {offset, offset + bytes}, 0, access);
}

void SharedShadow::record(std::span<const ByteRange> ranges, const check::Access& access) {
  if (cells_.empty()) return;
  const Recording recording = recording_of(access);
  for (const ByteRange& range : ranges)
    check::Shadow::record(recording, cells_.data(), kChunk, {range.offset, range.offset + range.bytes}, 0);
}

void SharedShadow::forget(u32 offset, u32 bytes) {
  if (!cells_.empty()) check::Shadow::forget(cells_.data(), kChunk, {offset, offset + bytes});
}

std::string SharedShadow::location(u64 address) const {
  return fmt::format("shared memory at {:#x} of {}", address, owner_.name());
}

std::string SharedShadow::side(const check::Stamp& stamp, std::string_view what) const {
  return owner_.machine().describe(owner_, stamp, what);
}

GlobalShadow::Page& GlobalShadow::page_of(u64 address) {
  const u64 number = address / kPage;
  auto& [cached_number, cached_page] = recent_pages_[number % kRecentPages];
  if (cached_number == number) return *cached_page;
  std::unique_ptr<Page>& page = pages_[number];
  if (page == nullptr) page = std::make_unique<Page>();
  cached_number = number;
  cached_page = page.get();
  return *page;
}

template <class F> void GlobalShadow::for_each_page(u64 address, u64 bytes, const F& f) {
  const u64 end = address + bytes;
  while (address < end) {
    const auto begin = static_cast<u32>(address % kPage);
    const auto count = static_cast<u32>(std::min<u64>(kPage - begin, end - address));
    f(page_of(address), Range{begin, begin + count}, address - begin);
    address += count;
  }
}

void GlobalShadow::record(u64 address, u64 bytes, const check::Access& access) {
  for_each_page(address, bytes, [&](Page& page, Range range, u64 first) {
    check::Shadow::record(page.data(), kRow, range, first, access);
  });
}

void GlobalShadow::forget(u64 address, u64 bytes) {
  for_each_page(address, bytes, [&](Page& page, Range range, u64) { check::Shadow::forget(page.data(), kRow, range); });
}

std::string GlobalShadow::location(u64 address) const {
  const Allocation allocation = machine_.memory().find(address, 1);
  return fmt::format("global memory at {:#x} (byte {} of {} at {:#x})", address, address - allocation.begin,
                     allocation.name, allocation.begin);
}

std::string GlobalShadow::side(const check::Stamp& stamp, std::string_view what) const {
  return machine_.describe_global(stamp, what);
}

}  // namespace tma_jit::emulator
