// The state of a launch, its memory, and the locations in its reports.
#include "emulator/machine/machine.h"

#include <bit>
#include <cstdio>
#include <cstring>

#include "emulator/fault.h"
#include "emulator/machine/address.h"
#include "emulator/machine/observer.h"

namespace tma_jit::emulator {
namespace {

constexpr u64 kConstantAlignment = 64;

}  // namespace

Machine::Machine(const Program& program, const LaunchShape& shape, GlobalMemory& memory, const DeviceInfo& device,
                 const Settings& settings)
    : program_(program),
      shape_(shape),
      memory_(memory),
      device_(device),
      settings_(settings),
      constant_storage_(program.constants.size() + kConstantAlignment),
      random_(settings.seed),
      async_(*this, settings.policy, random_) {
  const u64 start = reinterpret_cast<u64>(constant_storage_.data());
  auto* aligned = reinterpret_cast<u8*>((start + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment);
  if (!program.constants.empty()) std::memcpy(aligned, program.constants.data(), program.constants.size());
  constants_ = aligned;
  cluster_count_ = 1;
  for (std::size_t i = 0; i < 3; ++i) cluster_count_ *= shape.grid[i] / shape.cluster[i];
}

void Machine::observe(std::unique_ptr<Observer> observer) {
  observer_ = std::move(observer);
}

Machine::~Machine() = default;

u8* Machine::global(u64 address, u64 bytes, bool write) {
  const CachedAllocation* const allocation = cached_allocation(address, bytes);
  if (allocation == nullptr) {
    throw_fault(FaultKind::bounds, "{} of {} bytes of global memory at {:#x}: {}", write ? "a write" : "a read", bytes,
                address, memory_.describe(address));
  }
  if (write && allocation->read_only) {
    throw_fault(FaultKind::bounds, "a write of {} bytes at {:#x} to {}, which can only be read", bytes, address,
                memory_.find(address, bytes).name);
  }
  return reinterpret_cast<u8*>(address);
}

bool Machine::holds_global(u64 address, u64 bytes, bool write) {
  const CachedAllocation* const allocation = cached_allocation(address, bytes);
  return allocation != nullptr && !(write && allocation->read_only);
}

const Machine::CachedAllocation* Machine::cached_allocation(u64 address, u64 bytes) {
  if (allocation_cache_[0].holds(address, bytes)) return allocation_cache_.data();
  for (std::size_t i = 1; i < allocation_cache_.size(); ++i) {
    if (!allocation_cache_[i].holds(address, bytes)) continue;
    std::swap(allocation_cache_[0], allocation_cache_[i]);
    return allocation_cache_.data();
  }
  const Allocation found = memory_.find(address, bytes);
  if (found.end == 0) return nullptr;
  allocation_cache_.back() = {found.begin, found.end, found.read_only, found.written};
  std::swap(allocation_cache_.front(), allocation_cache_.back());
  return allocation_cache_.data();
}

SharedSpan Machine::shared(Block& from, u32 address, u32 bytes) {
  const u32 rank = address >> kRankShift;
  Block* owner = &from;
  if (rank != from.rank()) {
    const auto& blocks = from.cluster().blocks;
    if (rank >= blocks.size()) {
      throw_fault(FaultKind::cluster, "shared address {:#x} names block {} of a cluster of {}", address, rank,
                  blocks.size());
    }
    owner = blocks[rank].get();
    require_resident(*owner, "an access");
  }
  return shared_at(*owner, address & kOffsetMask, bytes);
}

SharedSpan Machine::shared_at(Block& owner, u32 offset, u32 bytes) {
  if (u64{offset} + bytes > owner.shared.size() || offset < kReservedShared) {
    throw_fault(FaultKind::bounds, "an access of {} bytes to shared memory at {:#x}; {} has {:#x} to {:#x}", bytes,
                offset, owner.name(), kReservedShared, owner.shared.size());
  }
  return {&owner, offset, owner.shared.data() + offset};
}

void Machine::record_shared(const SharedSpan& span, u32 bytes, const check::Access& access) {
  if (observer_ != nullptr)
    observer_->moved(fmt::format("{} {} shared", access.what, access.write ? "writes" : "reads"), bytes);
  if (settings_.races) span.block->shadow.record(span.offset, bytes, access);
}

void Machine::record_shared(Block& owner, std::span<const ByteRange> ranges, const check::Access& access) {
  for (const ByteRange& range : ranges) {
    shared_at(owner, range.offset, range.bytes);
    if (observer_ != nullptr)
      observer_->moved(fmt::format("{} {} shared", access.what, access.write ? "writes" : "reads"), range.bytes);
  }
  if (settings_.races) owner.shadow.record(ranges, access);
}

void Machine::require_resident(const Block& owner, std::string_view what) {
  if (owner.live_warps != 0) return;
  throw Fault{FaultKind::cluster,
              fmt::format("{} to shared memory of {}, which has exited", what, owner.name()),
              "a block must not leave while others of its cluster still use its memory: synchronise the cluster last",
              {}};
}

void Machine::check_mbarrier_store(const SharedSpan& span, u32 bytes) {
  const auto& barriers = span.block->mbarriers;
  if (span.offset >= span.block->end_of_mbarriers || span.offset + bytes <= span.block->first_mbarrier) return;
  for (u32 offset = span.offset & ~7U; offset < span.offset + bytes; offset += 8) {
    if (!barriers.contains(offset)) continue;
    throw_fault(FaultKind::barrier, "a store over the live mbarrier at {:#x} of {}", offset, span.block->name());
  }
}

void Machine::queue(Warp& warp) {
  if (warp.queued) return;
  warp.queued = true;
  runnable_.push_back(&warp);
}

void Machine::wake(const void* token) {
  progress();
  for (const auto& cluster : clusters_) {
    for (const auto& block : cluster->blocks) {
      for (const auto& warp : block->warps) {
        if (warp->wake(token)) queue(*warp);
      }
    }
  }
}

void Machine::warn(const std::string& text) {
  const bool fresh = warned_.insert(text).second;
  if (!fresh || !settings_.warn) return;
  std::string full = text;
  if (current_op_ != nullptr) full += "\n  at " + location_of(*current_op_);
  settings_.warn(full);
}

void Machine::print(std::string_view text) {
  constexpr std::size_t kMuch = std::size_t{64} << 10;
  printed_ += text;
  if (printed_.size() > kMuch) flush_print();
}

void Machine::flush_print() {
  if (printed_.empty()) return;
  if (settings_.print) {
    settings_.print(printed_);
  } else {
    std::fwrite(printed_.data(), 1, printed_.size(), stdout);
    std::fflush(stdout);
  }
  printed_.clear();
}

void Machine::release_in_kernel(u64 address) {
  if (address == 0) return;
  const Allocation freed = memory_.find(address, 1);
  if (!memory_.free_in_kernel(address)) {
    throw_fault(FaultKind::bounds, "free({:#x}), which no malloc of a kernel gave, or which is free already: {}",
                address, memory_.describe(address));
  }
  global_shadow_.forget(freed.begin, freed.end - freed.begin);
  allocation_cache_ = {};
}

check::ActorId Machine::new_channel(Cluster& cluster, std::string name) {
  constexpr u32 kMost = check::kNoActor - 1;
  if (cluster.channels == 0) {
    for (const auto& block : cluster.blocks) cluster.channels += static_cast<u32>(block->warps.size());
  }
  if (cluster.channels >= kMost)
    throw_fault(FaultKind::limit, "more than {} warps and asynchronous channels in a cluster", kMost);
  const auto id = static_cast<check::ActorId>(cluster.channels++);
  channels_.push_back({&cluster, id, std::move(name)});
  return id;
}

std::string Machine::location_of(const Op& op) const {
  if (op.source == nullptr) return "the end of the kernel";
  std::string text = program_.module->location_of(*op.source);
  if (!text.empty()) text += ": ";
  return fmt::format("{}{} (PTX line {})", text, op.source->opcode, op.source->line);
}

namespace {

std::string side_of(const Machine& machine, const check::Stamp& stamp, std::string_view what, std::string_view actor) {
  return fmt::format("  {} by {} at {}", what, actor,
                     stamp.op != nullptr ? machine.location_of(*stamp.op) : "an unknown place");
}

}  // namespace

std::string Machine::describe(const Block& block, const check::Stamp& stamp, std::string_view what) const {
  const Cluster& cluster = block.cluster();
  const std::size_t warps = cluster.blocks.front()->warps.size();
  std::string actor;
  if (stamp.actor < warps * cluster.blocks.size()) {
    actor = fmt::format("warp {}", stamp.actor % warps);
    if (stamp.lane < kLanes) actor += fmt::format(" lane {}", stamp.lane);
    if (cluster.blocks.size() > 1) actor += fmt::format(" of {}", cluster.blocks[stamp.actor / warps]->name());
  } else {
    for (const Channel& channel : channels_) {
      if (channel.cluster == &cluster && channel.id == stamp.actor) actor = channel.name;
    }
  }
  return side_of(*this, stamp, what, actor);
}

std::string Machine::describe_global(const check::Stamp& stamp, std::string_view what) const {
  const Dim3& extents = shape_.cluster;
  const u32 blocks = extents[0] * extents[1] * extents[2];
  const u32 warps = (shape_.block[0] * shape_.block[1] * shape_.block[2] + kLanes - 1) / kLanes;
  const Dim3 first = cluster_at(stamp.cluster);
  const u32 rank = stamp.actor < warps * blocks ? stamp.actor / warps : 0;
  const std::string block = fmt::format("block ({}, {}, {})", first[0] * extents[0] + rank % extents[0],
                                        first[1] * extents[1] + rank / extents[0] % extents[1],
                                        first[2] * extents[2] + rank / extents[0] / extents[1]);
  std::string actor = fmt::format("warp {} of {}", stamp.actor % warps, block);
  if (stamp.actor >= warps * blocks) {
    actor = fmt::format("an asynchronous operation of {}{}", blocks > 1 ? "the cluster of " : "", block);
    for (const Channel& channel : channels_) {
      if (channel.cluster->number == stamp.cluster && channel.id == stamp.actor) actor = channel.name;
    }
  }
  return side_of(*this, stamp, what, actor);
}

Machine::FaultContext::FaultContext(Machine& machine, const Warp* warp, const Op* op)
    : machine_(machine), warp_(machine.current_warp_), op_(machine.current_op_) {
  machine.current_warp_ = warp;
  machine.current_op_ = op;
}

Machine::FaultContext::~FaultContext() {
  if (std::uncaught_exceptions() > 0) return;  // the report needs the operation that failed
  machine_.current_warp_ = warp_;
  machine_.current_op_ = op_;
}

void Machine::complete_location(Fault& fault) const {
  if (current_op_ == nullptr) return;
  std::string at = "  at " + location_of(*current_op_);
  if (current_warp_ != nullptr) {
    at += fmt::format("\n  {}, warp {}", current_warp_->block().name(), current_warp_->index());
    if (!current_warp_->exited()) at += fmt::format(", lanes {:#010x}", current_warp_->subwarp().mask);
  }
  fault.location = fault.location.empty() ? at : at + "\n" + fault.location;
}

}  // namespace tma_jit::emulator
