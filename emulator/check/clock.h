// Vector clocks. An actor is a warp, or a channel on which an asynchronous engine completes work in order (one an
// mbarrier, one a thread's bulk groups, one a warpgroup's wgmma, one a block's tensor core). An event is a tick of one
// actor; a clock says up to which tick of every actor its owner is ordered after.
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
  u64 cluster = 0;  // whose actor it is, of accesses to global memory; else 0
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
    if (ticks_.empty()) {
      ticks_ = other.ticks_;
      return;
    }
    if (ticks_.size() < other.ticks_.size()) ticks_.resize(other.ticks_.size(), 0);
    for (std::size_t i = 0; i < other.ticks_.size(); ++i) ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
  }
  // Keeps what both know.
  void meet(const Clock& other) {
    if (ticks_.size() > other.ticks_.size()) ticks_.resize(other.ticks_.size());
    for (std::size_t i = 0; i < ticks_.size(); ++i) ticks_[i] = std::min(ticks_[i], other.ticks_[i]);
  }
  bool covers(const Stamp& stamp) const { return stamp.time <= of(stamp.actor); }
  void clear() { ticks_.clear(); }

 private:
  std::vector<u32> ticks_;
};

// What an actor is ordered after. Edges carry all of it along; fences raise the three in the middle.
struct Clocks {
  // By the cluster's number. Shared, and copied when it changes: most kernels know of no cluster but their own.
  using Others = std::map<u64, Clocks>;

  Clock seen;            // happened before, and its writes are visible
  Clock performed;       // happened before; what it wrote may not be visible: relaxed edges raise only this
  Clock visible;         // of what was seen: shared memory that the asynchronous proxy may read, by fence.proxy.async
  Clock visible_global;  // the same of global memory
  Clock announced;       // mbarriers whose init is known to that proxy and to the cluster, by fence.mbarrier_init
  std::shared_ptr<const Others> others;  // what is known of the actors of other clusters; null: nothing

  void join(const Clocks& other) {
    seen.join(other.seen);
    performed.join(other.performed);
    visible.join(other.visible);
    visible_global.join(other.visible_global);
    announced.join(other.announced);
    if (other.others != others) join_others(other, false);
  }
  // Keeps what both know of their own cluster.
  void meet(const Clocks& other) {
    seen.meet(other.seen);
    performed.meet(other.performed);
    visible.meet(other.visible);
    visible_global.meet(other.visible_global);
    announced.meet(other.announced);
    others = nullptr;
  }
  void join_relaxed(const Clocks& other) {
    performed.join(other.performed);
    if (other.others != others) join_others(other, true);
  }
  // Whether `kind` has the stamp of an access by cluster `own`, or by one of the others.
  bool covers(Clock Clocks::*kind, const Stamp& stamp, u64 own) const {
    return stamp.cluster == own ? (this->*kind).covers(stamp) : others != nullptr && covers_other(kind, stamp);
  }
  // An event of an asynchronous engine that is over.
  void complete(ActorId channel, u32 time) {
    seen.raise(channel, time);
    performed.raise(channel, time);
  }
  void clear() { *this = Clocks{}; }

 private:
  void join_others(const Clocks& other, bool relaxed);
  bool covers_other(Clock Clocks::*kind, const Stamp& stamp) const;
};

// What has been published at one place of memory, by actors of any cluster.
class Published {
 public:
  void release(const Clocks& from, u64 cluster);
  void acquire(Clocks& to, u64 cluster) const;

 private:
  Clocks::Others by_cluster_;
};

// A warp's side of it.
struct Actor {
  ActorId id = kNobody;
  Clocks clocks;
  // For accesses that only a fence makes release or acquire: what was known at the last fence, and what has been
  // published at the places that were read since.
  Clocks fenced, observed;
  bool has_fenced = false, has_observed = false;
  Clock inits;  // of mbarriers, which a fence.mbarrier_init released

  u32 now() const { return clocks.seen.of(id); }
  void tick() { clocks.complete(id, now() + 1); }
  // Others that acquire `to` later are ordered after everything before.
  void release(Clocks& to) {
    to.join(clocks);
    tick();
  }
  // What a relaxed edge carries: that everything before has happened, and what fences before it release. PTX ISA 9.0,
  // "Memory Consistency Model: Release and Acquire Patterns"; "fence.mbarrier_init" is for relaxed arrivals at the
  // cluster's barrier.
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
