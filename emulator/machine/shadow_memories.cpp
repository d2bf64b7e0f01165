// The cells of shared and of global memory, and the names of addresses in reports.
#include <map>

#include <fmt/format.h>

#include "emulator/check/shadow.h"
#include "emulator/fault.h"
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

void GlobalShadow::check_waited(const EarlierLaunches& earlier, u64 address, u64 bytes,
                                const check::Access& access) const {
  if (access.clocks->launches) return;
  const bool strong = (access.stamp.flags & check::Access::kStrong) != 0;
  for (const auto& record : earlier) {
    const EarlierAccess* const conflict = record->find_conflict(address, bytes, access.write, strong);
    if (conflict == nullptr) continue;
    const char* const now = access.write ? "written" : "read";
    throw Fault{FaultKind::race,
                fmt::format("{} is {} by a launch that has not waited for one before it, which {} it",
                            location(std::max(address, conflict->begin)), now, conflict->written ? "wrote" : "read"),
                "execute griddepcontrol.wait (grid::wait) before the access, in the same thread or before a barrier of "
                "it; launched programmatically, a kernel begins while those before it run",
                fmt::format("  {} by {}\n{}", conflict->written ? "written" : "read", conflict->place,
                            side(access.stamp, fmt::format("then {}", now)))};
  }
}

void GlobalShadow::describe_to(LaunchRecord& record) const {
  std::map<u64, const Page*> pages;
  for (const auto& [number, page] : pages_) pages[number] = page.get();
  std::unordered_map<const Op*, const char*> places;
  for (const auto& [number, page] : pages) {
    for (std::size_t i = 0; i < page->size(); ++i) {
      visit((*page)[i], kRow, number * kPage + i * kRow,
            [&](u64 address, u32 bytes, const check::Stamp& stamp, bool written, bool strong) {
              const char*& place = places[stamp.op];
              if (place == nullptr) {
                place = record.keep(stamp.op == nullptr ? "a launch before"
                                                        : fmt::format("{} at {}", machine_.program().function->name,
                                                                      machine_.location_of(*stamp.op)));
              }
              record.add({address, address + bytes, written, strong, stamp.op, place});
            });
    }
  }
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
