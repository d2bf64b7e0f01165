// Reports of deadlocks and livelocks: where every warp is, and what it waits for.
#include <fmt/format.h>

#include "emulator/fault.h"
#include "emulator/machine/machine.h"

namespace tma_jit::emulator {
namespace {

constexpr int kMostLines = 40;

// Returns a text such as "mbarrier at 0x33c00 of block (0, 0, 0), parity 0: phase 0, 1 of 1 arrivals pending, 16384
// bytes outstanding".
std::string awaited(const Block& block, const Subwarp& subwarp) {
  for (const auto& peer : block.cluster().blocks) {
    for (const auto& [offset, barrier] : peer->mbarriers) {
      if (&barrier != subwarp.token) continue;
      return fmt::format(
          "mbarrier at {:#x} of {}, parity {}: in phase {}, {} of {} arrivals pending, {} bytes outstanding", offset,
          peer->name(), subwarp.detail, barrier.phase, barrier.pending, barrier.expected, barrier.bytes);
    }
  }
  for (std::size_t i = 0; i < block.barriers.size(); ++i) {
    if (&block.barriers[i] != subwarp.token) continue;
    return fmt::format("barrier {}: {} of {} threads have arrived", i, block.barriers[i].arrived,
                       block.barriers[i].expected);
  }
  if (&block.cluster().barrier == subwarp.token) {
    return fmt::format("the cluster's barrier: {} threads have arrived", block.cluster().barrier.arrived);
  }
  return "an asynchronous operation";
}

std::string line_of(const Machine& machine, const Warp& warp, const Subwarp& subwarp) {
  const Op& op = machine.program().ops[subwarp.pc];
  std::string state = "can run";
  if (subwarp.state == Subwarp::State::converging) {
    state = fmt::format("waits for lanes {:#010x} of its warp", warp.live() & ~subwarp.mask);
  } else if (subwarp.state == Subwarp::State::waiting) {
    state = "waits for " + awaited(warp.block(), subwarp);
  }
  return fmt::format("  {}, warp {}, lanes {:#010x}, {}\n    at {}\n", warp.block().name(), warp.index(), subwarp.mask,
                     state, machine.location_of(op));
}

}  // namespace

void Machine::report_no_progress(FaultKind kind, std::string message) const {
  std::string lines;
  int count = 0;
  for (const auto& cluster : clusters_) {
    for (const auto& block : cluster->blocks) {
      for (const auto& warp : block->warps) {
        for (const Subwarp& subwarp : warp->subwarps()) {
          if (++count <= kMostLines) lines += line_of(*this, *warp, subwarp);
        }
      }
    }
  }
  if (count > kMostLines) lines += fmt::format("  and {} more\n", count - kMostLines);
  if (!lines.empty()) lines.pop_back();
  throw Fault{kind, std::move(message), {}, std::move(lines)};
}

}  // namespace tma_jit::emulator
