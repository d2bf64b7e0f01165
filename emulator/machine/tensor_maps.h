// Tensor maps that a kernel modifies, and their fences. PTX ISA 9.0, "Proxies", "fence.proxy.tensormap": a thread that
// modifies the 128 bytes releases them to the tensor map proxy, and a thread that uses them acquires them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emulator/check/clock.h"

namespace tma_jit::emulator {
class Warp;
struct Cluster;

// The state of one launch. Modifications by tensormap.replace and tensormap.cp_fenceproxy are tracked, ordinary stores
// are not.
class TensorMaps {
 public:
  // Records that `warp` modifies the map at `address`.
  void changed(u64 address, Warp& warp, const Op& op);
  // A release fence of every modification that is ordered before it.
  void release(Warp& warp);
  // An acquire fence of the map at `address`. Acquires earlier releases.
  void acquire(u64 address, Warp& warp, const Op& op);
  // Throws Fault{proxy} if the map was modified and no later acquire fence is ordered before this use.
  void use(u64 address, const Warp& warp) const;

 private:
  struct Fence {
    const Cluster* cluster;  // the cluster of the stamp's actor
    check::Stamp stamp;
  };
  struct Change {
    Fence by;
    std::string location;  // for reports, because the block may have exited by then
    bool released = false;
    std::vector<Fence> acquired;  // since the release
  };
  std::map<u64, Change> changes_;  // the last modification of each map, by address
};

}  // namespace tma_jit::emulator
