#include "emulator/machine/block.h"

#include <fmt/format.h>

#include "emulator/machine/machine.h"

namespace tma_jit::emulator {
namespace {

constexpr u8 kPoison = 0xCB;  // the initial value of shared memory

u32 rounded_up(u32 value, u32 unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

Block::Block(Machine& machine, Cluster& cluster, Dim3 index, u32 rank)
    : machine_(machine), cluster_(cluster), index_(index), rank_(rank) {
  const Program& program = machine.program();
  shared.assign(dynamic_shared_offset(program) + machine.shape().dynamic_shared, kPoison);
  if (machine.settings().races) shadow.resize(shared.size());
  const Dim3& extents = machine.shape().block;
  const u32 threads = extents[0] * extents[1] * extents[2];
  for (u32 first = 0; first < threads; first += kLanes) {
    const u32 lanes = std::min<u32>(kLanes, threads - first);
    const Mask live = lanes == kLanes ? kAllLanes : (Mask{1} << lanes) - 1;
    warps.push_back(std::make_unique<Warp>(machine, *this, first / kLanes, live));
  }
  live_warps = static_cast<u32>(warps.size());
}

std::string Block::name() const {
  return fmt::format("block ({}, {}, {})", index_[0], index_[1], index_[2]);
}

bool Cluster::exited() const {
  for (const auto& block : blocks) {
    if (block->live_warps != 0) return false;
  }
  return true;
}

u32 dynamic_shared_offset(const Program& program) {
  return rounded_up(program.shared_bytes, std::max<u32>(program.shared_alignment, kReservedShared));
}

}  // namespace tma_jit::emulator
