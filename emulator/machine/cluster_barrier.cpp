#include "emulator/machine/cluster_barrier.h"

#include <bit>

namespace tma_jit::emulator {
namespace {

u32 live_threads(const Cluster& cluster) {
  u32 threads = 0;
  for (const auto& block : cluster.blocks) {
    for (const auto& warp : block->warps) threads += static_cast<u32>(std::popcount(warp->live()));
  }
  return threads;
}

}  // namespace

void check_cluster_barrier(Machine& machine, Cluster& cluster) {
  ClusterBarrier& barrier = cluster.barrier;
  if (barrier.arrived == 0 || barrier.arrived < live_threads(cluster)) return;
  barrier.arrived = 0;
  ++barrier.phase;
  barrier.released = barrier.gathered;
  barrier.gathered.clear();
  for (const auto& block : cluster.blocks) {
    for (const auto& warp : block->warps) warp->cluster_arrived = 0;
  }
  machine.wake(&barrier);
}

}  // namespace tma_jit::emulator
