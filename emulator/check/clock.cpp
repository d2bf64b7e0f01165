#include "emulator/check/clock.h"

namespace tma_jit::emulator::check {

void Clocks::join_others(const Clocks& other, bool relaxed) {
  if (other.others == nullptr) return;
  if (others == nullptr && !relaxed) {
    others = other.others;
    return;
  }
  auto joined = others != nullptr ? std::make_shared<Others>(*others) : std::make_shared<Others>();
  for (const auto& [cluster, clocks] : *other.others) {
    Clocks& known = (*joined)[cluster];
    relaxed ? known.join_relaxed(clocks) : known.join(clocks);
  }
  others = std::move(joined);
}

bool Clocks::covers_other(Clock Clocks::*kind, const Stamp& stamp) const {
  const auto known = others->find(stamp.cluster);
  return known != others->end() && (known->second.*kind).covers(stamp);
}

void Published::release(const Clocks& from, u64 cluster) {
  Clocks own = from;
  own.others = nullptr;
  by_cluster_[cluster].join(own);
  if (from.others == nullptr) return;
  for (const auto& [other, clocks] : *from.others) by_cluster_[other].join(clocks);
}

void Published::acquire(Clocks& to, u64 cluster) const {
  const auto own = by_cluster_.find(cluster);
  Clocks known = own != by_cluster_.end() ? own->second : Clocks{};
  auto others = std::make_shared<Clocks::Others>();
  for (const auto& [from, clocks] : by_cluster_) {
    known.launches = known.launches || clocks.launches;
    if (from != cluster) others->emplace(from, clocks);
  }
  if (!others->empty()) known.others = std::move(others);
  to.join(known);
}

void Actor::fence_proxy(bool shared, bool global) {
  if (shared) clocks.visible.join(clocks.seen);
  if (shared) clocks.announced.join(clocks.seen);
  if (global) clocks.visible_global.join(clocks.seen);
  if (global && clocks.others != nullptr) {
    auto others = std::make_shared<Clocks::Others>(*clocks.others);
    for (auto& [cluster, known] : *others) known.visible_global.join(known.seen);
    clocks.others = std::move(others);
  }
  tick();
}

}  // namespace tma_jit::emulator::check
