// Where the cells of shared and of global memory are, and how reports name places there.
#include <fmt/format.h>

#include "emulator/check/shadow.h"
#include "emulator/exec/block.h"
#include "emulator/exec/machine.h"

namespace tma_jit::emulator::check {

void SharedShadow::resize(std::size_t bytes) {
  cells_.assign((bytes + kChunk - 1) / kChunk, 0);
}

void SharedShadow::record(u32 offset, u32 bytes, const Access& access) {
  if (cells_.empty()) return;
  const u32 end = offset + bytes;
  for (u32 cell = offset / kChunk; cell * kChunk < end; ++cell) {
    const u32 first = cell * kChunk;
    Shadow::record(cells_[cell], kChunk, Range{offset, end}.within(first, kChunk), first, access);
  }
}

void SharedShadow::forget(u32 offset, u32 bytes) {
  if (cells_.empty()) return;
  const u32 end = offset + bytes;
  for (u32 cell = offset / kChunk; cell * kChunk < end; ++cell) {
    const u32 first = cell * kChunk;
    Shadow::forget(cells_[cell], kChunk, Range{offset, end}.within(first, kChunk));
  }
}

std::string SharedShadow::place(u64 address) const {
  return fmt::format("shared memory at {:#x} of {}", address, owner_.name());
}

std::string SharedShadow::side(const Stamp& stamp, std::string_view what) const {
  return owner_.machine().describe(owner_, stamp, what);
}

GlobalShadow::Page& GlobalShadow::page_of(u64 address) {
  const u64 number = address / kPage;
  auto& [known, lately] = lately_[number % kLately];
  if (known == number) return *lately;
  std::unique_ptr<Page>& page = pages_[number];
  if (page == nullptr) page = std::make_unique<Page>();
  known = number;
  lately = page.get();
  return *page;
}

void GlobalShadow::record(u64 address, u64 bytes, const Access& access) {
  const u64 end = address + bytes;
  while (address < end) {
    const auto begin = static_cast<u32>(address % kRow);
    const auto count = static_cast<u32>(std::min<u64>(kRow - begin, end - address));
    Cell& cell = page_of(address)[address % kPage / kRow];
    Shadow::record(cell, kRow, {begin, begin + count}, address - begin, access);
    address += count;
  }
}

void GlobalShadow::forget(u64 address, u64 bytes) {
  const u64 end = address + bytes;
  while (address < end) {
    const auto begin = static_cast<u32>(address % kRow);
    const auto count = static_cast<u32>(std::min<u64>(kRow - begin, end - address));
    Shadow::forget(page_of(address)[address % kPage / kRow], kRow, {begin, begin + count});
    address += count;
  }
}

std::string GlobalShadow::place(u64 address) const {
  const Allocation allocation = machine_.memory().find(address, 1);
  return fmt::format("global memory at {:#x} (byte {} of {} at {:#x})", address, address - allocation.begin,
                     allocation.name, allocation.begin);
}

std::string GlobalShadow::side(const Stamp& stamp, std::string_view what) const {
  return machine_.describe_global(stamp, what);
}

}  // namespace tma_jit::emulator::check
