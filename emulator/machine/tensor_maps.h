// Tensor maps that the kernel itself changes, and whether the tensor map proxy was told. PTX ISA 9.0, "Proxies",
// "fence.proxy.tensormap": whoever changed the 128 bytes releases them to that proxy, and who uses them acquires them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emulator/check/clock.h"

namespace tma_jit::emulator {
class Warp;
struct Cluster;

namespace check {

// Of one launch. Changes by tensormap.replace and tensormap.cp_fenceproxy are seen, ordinary stores are not.
class TensorMaps {
 public:
  // `warp` has changed the map at `address`.
  void changed(u64 address, Warp& warp, const Op& op);
  // A release fence: of every change that is ordered before it.
  void release(Warp& warp);
  // An acquire fence of the map at `address`; brings what was released before it.
  void acquire(u64 address, Warp& warp, const Op& op);
  // Throws Fault{proxy} where the map was changed and no acquire fence since is ordered before this use.
  void use(u64 address, const Warp& warp) const;

 private:
  struct Fence {
    const Cluster* cluster;  // whose clocks the stamp is of
    Stamp stamp;
  };
  struct Change {
    Fence by;
    std::string place;  // for the report: its block may have left by then
    bool released = false;
    std::vector<Fence> acquired;  // since the release
  };
  std::map<u64, Change> changes_;  // by address, the last of each
};

}  // namespace check
}  // namespace tma_jit::emulator
