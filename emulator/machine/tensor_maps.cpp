#include "emulator/machine/tensor_maps.h"

#include <algorithm>

#include "emulator/fault.h"
#include "emulator/machine/machine.h"

namespace tma_jit::emulator {
namespace {

check::Stamp stamp_of(const Warp& warp, const Op* op) {
  return {warp.clock.id, check::kManyLanes, 0, warp.clock.now(), op};
}

}  // namespace

void TensorMaps::changed(u64 address, Warp& warp, const Op& op) {
  const check::Stamp stamp = stamp_of(warp, &op);
  Change& change = changes_[address];
  change = {{&warp.block().cluster(), stamp}, warp.machine().describe(warp.block(), stamp, "changed"), false, {}};
  warp.clock.tick();
}

void TensorMaps::release(Warp& warp) {
  for (auto& [address, change] : changes_) {
    const bool before = change.by.cluster == &warp.block().cluster() && warp.clock.clocks.seen.covers(change.by.stamp);
    change.released = change.released || before;
  }
}

void TensorMaps::acquire(u64 address, Warp& warp, const Op& op) {
  const auto change = changes_.find(address);
  if (change == changes_.end() || !change->second.released) return;
  change->second.acquired.push_back({&warp.block().cluster(), stamp_of(warp, &op)});
  warp.clock.tick();
}

void TensorMaps::use(u64 address, const Warp& warp) const {
  const auto found = changes_.find(address);
  if (found == changes_.end()) return;
  const Change& change = found->second;
  const bool known = std::ranges::any_of(change.acquired, [&warp](const Fence& fence) {
    return fence.cluster == &warp.block().cluster() && warp.clock.clocks.seen.covers(fence.stamp);
  });
  if (known) return;
  throw Fault{
      FaultKind::proxy,
      fmt::format("the tensor map at {:#x} was changed by this kernel and is used with no {} fence of the tensor "
                  "map proxy in between",
                  address, change.released ? "acquire" : "release"),
      change.released ? "execute fence.proxy.tensormap::generic.acquire on the map before using it, in the using "
                        "thread or in one that it is ordered after"
                      : "after the changes execute fence.proxy.tensormap::generic.release, or publish the map "
                        "with tensormap.cp_fenceproxy, and acquire it before using it",
      change.location};
}

}  // namespace tma_jit::emulator
