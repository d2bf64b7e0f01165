// Vector clocks. An actor is a warp, or a channel on which an asynchronous engine completes work in order: one per
// mbarrier, per thread's bulk groups, per warpgroup's wgmma and per block's tensor core. An event is a tick of one
// actor. A clock records, for every actor, the last tick that its owner is ordered after.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "emulator/word.h"

namespace tma_jit::emulator {
struct Op;
}

namespace tma_jit::emulator::check {

using ActorId = u16;
inline constexpr ActorId kNoActor = 0xffff;
inline constexpr u8 kManyLanes = 0xff;

// One event, as a shadow memory stores it. `lane` distinguishes the lanes of a warp between two of its synchronising
// instructions, at which the warp's clock ticks.
struct Stamp {
  ActorId actor = kNoActor;
  u8 lane = kManyLanes;
  u8 flags = 0;
  u32 time = 0;
  const Op* op = nullptr;
  u64 cluster = 0;  // the cluster of the actor, for accesses to global memory; otherwise 0
  explicit operator bool() const { return actor != kNoActor; }
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
    if (ticks_.empty()) {
      ticks_ = other.ticks_;
      return;
    }
    if (ticks_.size() < other.ticks_.size()) ticks_.resize(other.ticks_.size(), 0);
    for (std::size_t i = 0; i < other.ticks_.size(); ++i) ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
  }
  // Keeps the events that both clocks cover.
  void meet(const Clock& other) {
    if (ticks_.size() > other.ticks_.size()) ticks_.resize(other.ticks_.size());
    for (std::size_t i = 0; i < ticks_.size(); ++i) ticks_[i] = std::min(ticks_[i], other.ticks_[i]);
  }
  bool covers(const Stamp& stamp) const { return stamp.time <= of(stamp.actor); }
  void clear() { ticks_.clear(); }

 private:
  std::vector<u32> ticks_;
};

// The events that an actor is ordered after. Synchronisation transfers all of it; proxy fences raise `visible`,
// `visible_global` and `announced`.
struct Clocks {
  // Indexed by the number of the cluster. Copied on write, because most kernels order accesses within one cluster only.
  using Others = std::map<u64, Clocks>;

  Clock seen;       // events that happened before, and whose writes are visible
  Clock performed;  // events that happened before, but whose writes may not be visible; relaxed edges raise only this
  Clock visible;    // events whose writes to shared memory the asynchronous proxy may read, by fence.proxy.async
  Clock visible_global;   // the same for global memory
  Clock announced;        // mbarrier inits visible to that proxy and to the cluster, by fence.mbarrier_init
  bool launches = false;  // whether the launches before this one have happened before: after griddepcontrol.wait
  std::shared_ptr<const Others> others;  // clocks of the actors of other clusters; null if there are none

  void join(const Clocks& other) {
    seen.join(other.seen);
    performed.join(other.performed);
    visible.join(other.visible);
    visible_global.join(other.visible_global);
    announced.join(other.announced);
    launches = launches || other.launches;
    if (other.others != others) join_others(other, false);
  }
  // Keeps the events of this cluster that both cover, and drops those of other clusters.
  void meet(const Clocks& other) {
    seen.meet(other.seen);
    performed.meet(other.performed);
    visible.meet(other.visible);
    visible_global.meet(other.visible_global);
    announced.meet(other.announced);
    launches = launches && other.launches;
    others = nullptr;
  }
  void join_relaxed(const Clocks& other) {
    performed.join(other.performed);
    launches = launches || other.launches;
    if (other.others != others) join_others(other, true);
  }
  // Returns whether the clock `kind` covers an access by cluster `own` or by another cluster.
  bool covers(Clock Clocks::*kind, const Stamp& stamp, u64 own) const {
    return stamp.cluster == own ? (this->*kind).covers(stamp) : others != nullptr && covers_other(kind, stamp);
  }
  // Records that an event of an asynchronous engine has completed.
  void complete(ActorId channel, u32 time) {
    seen.raise(channel, time);
    performed.raise(channel, time);
  }
  void clear() { *this = Clocks{}; }

 private:
  void join_others(const Clocks& other, bool relaxed);
  bool covers_other(Clock Clocks::*kind, const Stamp& stamp) const;
};

// The clocks that actors of any cluster have released at one memory location.
class Published {
 public:
  void release(const Clocks& from, u64 cluster);
  void acquire(Clocks& to, u64 cluster) const;

 private:
  Clocks::Others by_cluster_;
};

// The clocks of one actor.
struct Actor {
  ActorId id = kNoActor;
  Clocks clocks;
  // For accesses that only a fence turns into a release or an acquire: the clocks at the last fence, and the clocks
  // released at the locations that were read since.
  Clocks fenced, observed;
  bool has_fenced = false, has_observed = false;
  Clock inits;  // mbarrier inits that a fence.mbarrier_init has released

  u32 now() const { return clocks.seen.of(id); }
  void tick() { clocks.complete(id, now() + 1); }
  // Orders later acquirers of `to` after all events so far.
  void release(Clocks& to) {
    to.join(clocks);
    tick();
  }
  // Returns what a relaxed edge transfers: that all events so far have happened, and the clocks that earlier fences
  // release. PTX ISA 9.0, "Memory Consistency Model: Release and Acquire Patterns"; "fence.mbarrier_init" is for
  // relaxed arrivals at the barrier of the cluster.
  Clocks relaxed() const {
    Clocks carried;
    carried.join_relaxed(clocks);
    if (has_fenced) carried.join(fenced);
    carried.announced.join(inits);
    return carried;
  }
  void acquire(const Clocks& from) { clocks.join(from); }
  void acquire_relaxed(const Clocks& from) {
    clocks.join_relaxed(from);
    observed.join(from);
    has_observed = true;
  }
  void fence() {
    if (has_observed) {
      clocks.join(observed);
      observed.clear();
      has_observed = false;
    }
    fenced = clocks;
    has_fenced = true;
    tick();
  }
  void fence_proxy(bool shared, bool global);
  void fence_mbarrier_init() {
    clocks.announced.join(clocks.seen);
    inits.join(clocks.seen);
    tick();
  }
};

}  // namespace tma_jit::emulator::check
