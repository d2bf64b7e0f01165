// A warp: its registers, and its lanes in fragments, each at its own instruction. The fragment with the lowest program
// counter runs, and fragments that meet become one; for structured code that is reconvergence. Since Volta nothing
// promises it: where the machine parts lanes, a fragment stays behind while the others run ahead to where they must
// meet it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/check/clock.h"
#include "emulator/machine/copy_groups.h"
#include "emulator/machine/taint.h"
#include "emulator/machine/wgmma_operation.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator {

class Block;
class CallStack;
class Machine;

struct Fragment {
  enum class State : u8 { runnable, meeting, waiting };
  u32 pc = 0;
  Mask mask = 0;
  State state = State::runnable;
  bool resumes_after = false;   // woken, it goes on with the next instruction
  u32 behind = 0;               // so many times others are selected first
  const void* token = nullptr;  // what it waits for
  u64 detail = 0;               // for the report of a deadlock: an address, a parity
};

class Warp {
 public:
  Warp(Machine& machine, Block& block, u32 index, Mask live);
  ~Warp();
  Warp(const Warp&) = delete;
  Warp& operator=(const Warp&) = delete;

  Machine& machine() { return machine_; }
  Block& block() { return block_; }
  const Block& block() const { return block_; }
  u32 index() const { return index_; }  // in its block
  u32 actor() const { return actor_; }  // in its cluster
  Mask live() const { return live_; }
  bool exited() const { return fragments_.empty(); }

  // Values.
  template <class T> const T* values(const Place& place) const {
    return reinterpret_cast<const T*>(banks_[place.bank] + place.offset);
  }
  template <class T> T* writable(const Place& place) { return reinterpret_cast<T*>(registers_ + place.offset); }
  u64 lane(const Place& place, int lane) const {  // zero-extended
    switch (place.width) {
      case 0: return (predicate(place) >> lane) & 1U;
      case 2: return values<u16>(place)[lane];
      case 4: return values<u32>(place)[lane];
      default: return values<u64>(place)[static_cast<std::size_t>(lane) * (place.width / 8U)];
    }
  }
  void set_lane(const Place& place, int lane, u64 value) {
    if (!place) return;
    switch (place.width) {
      case 0: return set_predicate(place, Mask{1} << lane, value != 0 ? kAllLanes : 0);
      case 2: writable<u16>(place)[lane] = static_cast<u16>(value); break;
      case 4: writable<u32>(place)[lane] = static_cast<u32>(value); break;
      default: writable<u64>(place)[static_cast<std::size_t>(lane) * (place.width / 8U)] = value; break;
    }
  }
  Mask predicate(const Place& place) const {
    const Mask mask = *reinterpret_cast<const Mask*>(banks_[place.bank] + place.offset);
    return place.inverted ? ~mask : mask;
  }
  void set_predicate(const Place& place, Mask active, Mask value);
  // Writes the active lanes of `value`, 32 lanes of place.width bytes.
  void set(const Place& place, Mask active, const void* value);
  // The address in `op.a` plus its offset.
  u64 address(const Op& op, const Place& base, int lane) const {
    return this->lane(base, lane) + static_cast<u64>(op.offset);
  }

  // Control.
  const std::vector<Fragment>& fragments() const { return fragments_; }
  Fragment& fragment() { return fragments_[current_]; }
  const Fragment& fragment() const { return fragments_[current_]; }
  bool select();        // the runnable fragment with the lowest pc that is not behind; false if none
  bool select_other();  // any other runnable one, for fairness
  void merge();         // fragments at the current one's pc into it
  bool catch_up();      // nothing is behind any more; true if the current fragment was ahead of something
  bool meets(const Op& op) const;
  void branch(u32 target, Mask taken);
  void branch(const std::map<u32, Mask>& ways);  // lanes in none of them go on
  void exit(Mask lanes);
  Step wait_for(const void* token, Step how, u64 detail = 0);
  bool wake(const void* token);  // true if a fragment became runnable
  bool runnable() const;
  bool queued = false;  // in the scheduler's list

  // How many asynchronous operations still own a place, for the checks.
  std::vector<u32> in_flight;  // by the register's number; empty until the first one
  u32 in_flight_count = 0;
  check::Taints taints;
  bool has_doubtful_registers() const { return in_flight_count != 0 || taints.any(); }

  // Local memory of a lane, its stack included. Throws Fault{bounds}.
  u8* local_at(u32 address, u32 bytes, int lane);
  CallStack& calls() { return *calls_; }

  check::Actor clock;
  u32 register_limit = 0;                        // by setmaxnreg
  u32 register_changes = 0;                      // how often
  u16 reducing = 0;                              // barriers whose bar.red this warp has arrived at, a bit each
  std::map<int, async::BulkGroups> bulk_groups;  // by lane, of those that ever issued a store
  // At the cluster's barrier: lanes that have arrived in this phase, and that have yet to wait, and for which phase.
  Mask cluster_arrived = 0, cluster_waits = 0;
  u32 cluster_phase = 0;
  async::ElementGroups element_groups;  // of cp.async
  WgmmaState wgmma;
  Mask carry = 0;  // the condition code register

 private:
  void part();
  void fill_presets();
  u64 preset_value(const Preset& preset, int lane) const;

  Machine& machine_;
  Block& block_;
  std::vector<u8> local_;             // memory of the 32 lanes, one after the other; empty until used
  std::unique_ptr<CallStack> calls_;  // where the program has functions that are called
  const u32 index_;
  const u32 actor_;
  Mask live_;
  std::vector<u8> storage_;
  u8* registers_;
  const u8* banks_[2];
  std::vector<Fragment> fragments_;
  std::size_t current_ = 0;
};

}  // namespace tma_jit::emulator
