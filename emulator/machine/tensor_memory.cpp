#include "emulator/machine/tensor_memory.h"

#include <algorithm>

#include "emulator/fault.h"
#include "emulator/machine/machine.h"

namespace tma_jit::emulator {
namespace {

using matrix::kTensorColumns;
using matrix::kTensorLanes;
using matrix::Region;

constexpr u32 kPoison = 0x7fc0dead;  // a NaN, and not a valid address
constexpr u32 kGranule = 32;         // columns

void check_size(u32 columns) {
  if (columns < kGranule || columns > kTensorColumns || (columns & (columns - 1)) != 0) {
    throw_fault(FaultKind::tensor_memory, "tensor memory is allocated by 32, 64, 128, 256 or 512 columns, not {}",
                columns);
  }
}

bool covers(const TensorAccessRecord& access, const check::Stamp& stamp) {
  return stamp.actor == access.stamp.actor || access.order->covers(stamp);
}

}  // namespace

TensorMemory::TensorMemory(Machine& machine, Block& block)
    : machine_(machine),
      block_(block),
      words_(std::size_t{kTensorLanes} * kTensorColumns, kPoison),
      cells_(std::size_t{kTensorLanes} / kCellLanes * kTensorColumns),
      warps_(block.warps.size()) {}

std::optional<u32> TensorMemory::allocate(u32 columns, const Op& op) {
  check_size(columns);
  for (u32 first = 0; first + columns <= kTensorColumns; first += kGranule) {
    const auto begin = owner_.begin() + first;
    if (!std::all_of(begin, begin + columns, [](u16 owner) { return owner == 0; })) continue;
    std::fill_n(begin, columns, static_cast<u16>(first + 1));
    allocated_[first] = &op;
    for (u32 lane = 0; lane < kTensorLanes; lane += kCellLanes) std::fill_n(&cell_at(lane, first), columns, Cell{});
    return first;
  }
  return std::nullopt;
}

void TensorMemory::check_over(u32 column, u32 columns, const check::Clock& seen) const {
  if (!machine_.settings().checks) return;
  const auto refuse = [this](const check::Stamp& stamp, u32 at) {
    throw Fault{FaultKind::race,
                fmt::format("tcgen05.dealloc of column {} with nothing to order it after its last use", at),
                "every warp executes tcgen05.wait and tcgen05.fence::before_thread_sync after its last access, then a "
                "barrier that the freeing warp takes part in",
                machine_.describe(block_, stamp, "last used")};
  };
  for (u32 group = 0; group < kTensorLanes / kCellLanes; ++group) {
    for (u32 at = column; at < column + columns; ++at) {
      const Cell& cell = cells_[std::size_t{group} * kTensorColumns + at];
      if (cell.writer && !seen.covers(cell.writer)) refuse(cell.writer, at);
      for (const check::Stamp& reader : cell.readers)
        if (reader && !seen.covers(reader)) refuse(reader, at);
    }
  }
}

void TensorMemory::free(u32 column, u32 columns, const check::Clock& seen) {
  check_size(columns);
  const u32 last = column + columns;
  const auto owns = [&](u32 at) { return at < kTensorColumns && owner_[at] == column + 1; };
  if (column >= kTensorColumns || !owns(column) || !owns(last - 1) || owns(last)) {
    throw Fault{
        FaultKind::tensor_memory,
        fmt::format("tcgen05.dealloc of {} columns from {}, where no allocation of that size begins", columns, column),
        "free each allocation once, with the address and the size that it was allocated with",
        {}};
  }
  if (!queue.empty())
    throw_fault(FaultKind::tensor_memory, "tcgen05.dealloc while tcgen05 operations of the block are still in flight");
  check_over(column, columns, seen);
  std::fill_n(owner_.begin() + column, columns, u16{0});
  machine_.wake(this);
}

void TensorMemory::check_exit() const {
  for (u32 column = 0; column < kTensorColumns; ++column) {
    if (owner_[column] == 0) continue;
    throw Fault{
        FaultKind::tensor_memory,
        fmt::format("{} exits with tensor memory from column {} on still allocated", block_.name(), owner_[column] - 1),
        "a warp must execute tcgen05.dealloc for each allocation before the block leaves",
        "  allocated at " + machine_.location_of(*allocated_.at(owner_[column] - 1U))};
  }
}

void TensorMemory::use_group(u32 group) {
  if (group_ != 0 && group_ != group) {
    throw_fault(FaultKind::tensor_memory, "tcgen05 instructions of one kernel name .cta_group::{} and .cta_group::{}",
                group_, group);
  }
  group_ = group;
}

check::ActorId TensorMemory::channel() {
  if (channel_ == check::kNoActor)
    channel_ = machine_.new_channel(block_.cluster(), fmt::format("the tensor core of {}", block_.name()));
  return channel_;
}

TensorMemoryState& TensorMemory::state_of(Warp& warp) {
  TensorMemoryState& state = warps_[warp.index()];
  if (state.loads == check::kNoActor) {
    state.loads = machine_.new_channel(block_.cluster(),
                                       fmt::format("a tcgen05.ld of warp {} of {}", warp.index(), block_.name()));
    state.stores = machine_.new_channel(block_.cluster(),
                                        fmt::format("a tcgen05.st of warp {} of {}", warp.index(), block_.name()));
  }
  return state;
}

const Op* TensorMemory::load_of(const Warp& warp, u32 index) const {
  for (const TensorMemoryState::Owned& owned : warps_[warp.index()].in_flight) {
    if (owned.index == index) return owned.load;
  }
  return nullptr;
}

void TensorMemory::check_allocated(const Region& region, const char* what) const {
  for (u32 column = region.column; column < region.column + region.columns; ++column) {
    if (owner_[column] != 0) continue;
    throw Fault{FaultKind::tensor_memory,
                fmt::format("{} touches column {} of tensor memory, which is not allocated", what, column),
                "allocate enough columns (tcgen05.alloc) and add offsets to the address it gives",
                {}};
  }
}

void TensorMemory::record(const Region& region, const TensorAccessRecord& access) {
  check_allocated(region, access.what);
  if (!machine_.settings().checks) return;
  const u32 end = region.lane + region.lanes;
  for (u32 first = region.lane; first < end;) {
    const u32 last = std::min(end, (first / kCellLanes + 1) * kCellLanes);
    const Mask lanes = ((Mask{1} << (last - first)) - 1) << (first % kCellLanes);
    for (u32 column = region.column; column < region.column + region.columns; ++column)
      record_cell(cell_at(first, column), lanes, first, column, access);
    first = last;
  }
  if (!access.write) check_initialised(region, access.what);
}

// Layouts that use half of 32 lanes do not write the others, but a load may read all of them.
void TensorMemory::check_initialised(const Region& region, const char* what) {
  const u32 end = region.lane + region.lanes;
  for (u32 first = region.lane; first < end; first = (first / kLanes + 1) * kLanes) {
    const u32 last = std::min(end, (first / kLanes + 1) * kLanes);
    for (u32 column = region.column; column < region.column + region.columns; ++column) {
      bool any = false;
      for (u32 lane = first; lane < last && !any; ++lane)
        any = (cell_at(lane, column).initialised >> (lane % kCellLanes) & 1) != 0;
      if (any) continue;
      throw Fault{
          FaultKind::uninitialised,
          fmt::format("{} reads lane {}, column {} of tensor memory, which nothing has written", what, first, column),
          "let the first tcgen05.mma of a tile not accumulate, and check addresses and shapes",
          {}};
    }
  }
}

void TensorMemory::record_cell(Cell& cell, Mask lanes, u32 lane, u32 column, const TensorAccessRecord& access) {
  if (cell.writer && !covers(access, cell.writer)) report(cell.writer, true, lane, column, access);
  if (!access.write) {
    for (check::Stamp& reader : cell.readers) {
      if (reader && reader.actor != access.stamp.actor && !covers(access, reader)) continue;
      reader = access.stamp;
      return;
    }
    cell.readers.back() = access.stamp;
    return;
  }
  for (check::Stamp& reader : cell.readers) {
    if (reader && !covers(access, reader)) report(reader, false, lane, column, access);
    reader = {};
  }
  cell.writer = access.stamp;
  cell.initialised |= lanes;
}

void TensorMemory::report(const check::Stamp& other, bool other_writes, u32 lane, u32 column,
                          const TensorAccessRecord& access) const {
  const bool only_fence = access.seen != nullptr && access.seen->covers(other);
  std::string message =
      fmt::format("{} {} lane {}, column {} of tensor memory, {} {}", access.what, access.write ? "writes" : "reads",
                  lane, column, other_writes ? "written" : "read",
                  only_fence ? "before a synchronisation that no fence follows" : "with nothing to order the two");
  throw Fault{only_fence ? FaultKind::proxy : FaultKind::race, std::move(message),
              only_fence ? "execute tcgen05.fence::after_thread_sync after the wait and before the tcgen05 operation"
                         : "wait for tcgen05.commit's mbarrier before loading; after tcgen05.wait::ld and "
                           "tcgen05.fence::before_thread_sync tell the issuer of tcgen05.mma through a barrier",
              machine_.describe(block_, other, other_writes ? "written" : "read")};
}

TensorMemory& tensor_memory_of(Machine& machine, Block& block) {
  if (block.tensor_memory == nullptr) block.tensor_memory = std::make_shared<TensorMemory>(machine, block);
  return *block.tensor_memory;
}

void check_tensor_memory_freed(const Block& block) {
  if (block.tensor_memory != nullptr) block.tensor_memory->check_exit();
}

}  // namespace tma_jit::emulator
