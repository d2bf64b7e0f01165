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

// What an actor is ordered after (`seen`), and what of that the asynchronous proxy may read: raised by
// fence.proxy.async, and carried along by every edge as `seen` is.
struct Clocks {
  Clock seen;
  Clock visible;
  void join(const Clocks& other) {
    seen.join(other.seen);
    visible.join(other.visible);
  }
  void clear() {
    seen.clear();
    visible.clear();
  }
};

// A warp's side of it.
struct Actor {
  ActorId id = kNobody;
  Clocks clocks;

  u32 now() const { return clocks.seen.of(id); }
  void tick() { clocks.seen.raise(id, now() + 1); }
  // Others that acquire `to` later are ordered after everything before.
  void release(Clocks& to) {
    to.join(clocks);
    tick();
  }
  void acquire(const Clocks& from) { clocks.join(from); }
  // fence.proxy.async
  void publish() { clocks.visible.join(clocks.seen); }
};

}  // namespace tma_jit::emulator::check
