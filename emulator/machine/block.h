// A block (CTA) and the cluster it belongs to.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/machine/barrier.h"
#include "emulator/machine/mbarrier.h"
#include "emulator/machine/shadow_memories.h"
#include "emulator/machine/warp.h"
#include "emulator/machine/wgmma_operation.h"

namespace tma_jit::emulator {

using Dim3 = std::array<u32, 3>;

struct Cluster;
class TensorMemory;

class Block {
 public:
  Block(Machine& machine, Cluster& cluster, Dim3 index, u32 rank);

  Machine& machine() const { return machine_; }
  Cluster& cluster() { return cluster_; }
  const Cluster& cluster() const { return cluster_; }
  const Dim3& index() const { return index_; }
  u32 rank() const { return rank_; }  // in the cluster
  std::string name() const;           // "block (1, 0, 0)"

  std::vector<u8> shared;
  SharedShadow shadow{*this};
  std::vector<std::unique_ptr<Warp>> warps;
  u32 live_warps = 0;
  std::vector<std::unique_ptr<Warpgroup>> warpgroups;  // null until the warpgroup uses wgmma
  u8 registers_released = 0;  // only its address is used: the token that warps wait for in setmaxnreg.inc
  std::map<u32, std::vector<std::pair<bool, u32>>>
      register_changes;  // per warpgroup: .inc and the value of each setmaxnreg
  std::array<NamedBarrier, 16> barriers;
  std::unordered_map<u32, Mbarrier> mbarriers;          // by offset into shared memory
  u32 first_mbarrier = ~u32{0}, end_of_mbarriers = 0;   // bounds of the offsets of all mbarriers so far
  std::shared_ptr<TensorMemory> tensor_memory;          // allocated by the first tcgen05 instruction
  std::unordered_map<u32, check::Published> published;  // by offset: clocks released by strong stores

 private:
  Machine& machine_;
  Cluster& cluster_;
  const Dim3 index_;
  const u32 rank_;
};

struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;  // by rank
  Dim3 index{};
  u64 number = 0;    // in the grid
  u32 channels = 0;  // actor ids assigned so far
  ClusterBarrier barrier;
  bool exited() const;
};

}  // namespace tma_jit::emulator
