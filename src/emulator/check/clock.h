// Vector clocks. An actor is a warp, or a channel on which an asynchronous engine completes work in order (one an
// mbarrier, one a thread's bulk groups, one a warpgroup's wgmma, one a block's tensor core). An event is a tick of one
// actor; a clock says up to which tick of every actor its owner is ordered after.
#pragma once

#include <algorithm>
#include <vector>

#include "emulator/word.h"

namespace tma_jit::emulator {
struct Op;
}

namespace tma_jit::emulator::check {

using ActorId = u16;
inline constexpr ActorId kNobody = 0xffff;
inline constexpr u8 kManyLanes = 0xff;

// One event: what a shadow remembers of an access. `lane` tells the lanes of a warp apart between two of its
// synchronising instructions, which is when its clock ticks.
struct Stamp {
  ActorId actor = kNobody;
  u8 lane = kManyLanes;
  u8 flags = 0;
  u32 time = 0;
  const Op* op = nullptr;
  explicit operator bool() const { return actor != kNobody; }
  bool operator==(const Stamp&) const = default;
};

class Clock {
 public:
  u32 of(ActorId actor) const { return actor < ticks_.size() ? ticks_[actor] : 0; }
  void raise(ActorId actor, u32 time) {
    if (actor >= ticks_.size()) ticks_.resize(actor + std::size_t{1}, 0);
    ticks_[actor] = std::max(ticks_[actor], time);
  }
  void join(const Clock& other) {
    if (ticks_.size() < other.ticks_.size()) ticks_.resize(other.ticks_.size(), 0);
    for (std::size_t i = 0; i < other.ticks_.size(); ++i) ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
  }
  bool covers(const Stamp& stamp) const { return stamp.time <= of(stamp.actor); }
  void clear() { ticks_.clear(); }

 private:
  std::vector<u32> ticks_;
};

// What an actor is ordered after. Edges carry all four along; fences raise the last two.
struct Clocks {
  Clock seen;       // happened before, and its writes are visible
  Clock performed;  // happened before; what it wrote may not be visible: relaxed edges raise only this
  Clock visible;    // of what was seen: what the asynchronous proxy may read, by fence.proxy.async
  Clock announced;  // of what was seen: mbarriers made known to that proxy and to the cluster, by fence.mbarrier_init

  void join(const Clocks& other) {
    seen.join(other.seen);
    performed.join(other.performed);
    visible.join(other.visible);
    announced.join(other.announced);
  }
  void join_relaxed(const Clocks& other) { performed.join(other.performed); }
  // An event of an asynchronous engine that is over.
  void complete(ActorId channel, u32 time) {
    seen.raise(channel, time);
    performed.raise(channel, time);
  }
  void clear() { *this = Clocks{}; }
};

// A warp's side of it.
struct Actor {
  ActorId id = kNobody;
  Clocks clocks;

  u32 now() const { return clocks.seen.of(id); }
  void tick() { clocks.complete(id, now() + 1); }
  // Others that acquire `to` later are ordered after everything before.
  void release(Clocks& to) {
    to.join(clocks);
    tick();
  }
  void release_relaxed(Clocks& to) {
    to.join_relaxed(clocks);
    tick();
  }
  void acquire(const Clocks& from) { clocks.join(from); }
  void acquire_relaxed(const Clocks& from) { clocks.join_relaxed(from); }
  void fence_proxy() {
    clocks.visible.join(clocks.seen);
    clocks.announced.join(clocks.seen);
    tick();
  }
  void fence_mbarrier_init() {
    clocks.announced.join(clocks.seen);
    tick();
  }
};

}  // namespace tma_jit::emulator::check
