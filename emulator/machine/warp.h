// A warp: its registers, and its lanes in subwarps, each with its own program counter. The subwarp with the lowest
// program counter runs, and subwarps with equal program counters merge, which reconverges structured code. Since Volta
// no such order is guaranteed, so the machine at times delays a subwarp and lets the others run ahead to their next
// point of convergence.
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

struct Subwarp {
  enum class State : u8 { runnable, converging, waiting };
  u32 pc = 0;
  Mask mask = 0;
  State state = State::runnable;
  bool resumes_after = false;   // when woken, it continues with the next instruction
  u32 delay = 0;                // number of times that other subwarps are selected first
  const void* token = nullptr;  // the object that it waits for
  u64 detail = 0;               // for reports of deadlocks: an address or a parity
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
  bool exited() const { return subwarps_.empty(); }

  // Register values.
  template <class T> const T* values(const RegisterRef& reg) const {
    return reinterpret_cast<const T*>(banks_[reg.bank] + reg.offset);
  }
  template <class T> T* writable(const RegisterRef& reg) { return reinterpret_cast<T*>(registers_ + reg.offset); }
  u64 lane(const RegisterRef& reg, int lane) const {  // zero-extended
    switch (reg.width) {
      case 0: return (predicate(reg) >> lane) & 1U;
      case 2: return values<u16>(reg)[lane];
      case 4: return values<u32>(reg)[lane];
      default: return values<u64>(reg)[static_cast<std::size_t>(lane) * (reg.width / 8U)];
    }
  }
  void set_lane(const RegisterRef& reg, int lane, u64 value) {
    if (!reg) return;
    switch (reg.width) {
      case 0: return set_predicate(reg, Mask{1} << lane, value != 0 ? kAllLanes : 0);
      case 2: writable<u16>(reg)[lane] = static_cast<u16>(value); break;
      case 4: writable<u32>(reg)[lane] = static_cast<u32>(value); break;
      default: writable<u64>(reg)[static_cast<std::size_t>(lane) * (reg.width / 8U)] = value; break;
    }
  }
  Mask predicate(const RegisterRef& reg) const {
    const Mask mask = *reinterpret_cast<const Mask*>(banks_[reg.bank] + reg.offset);
    return reg.inverted ? ~mask : mask;
  }
  void set_predicate(const RegisterRef& reg, Mask active, Mask value);
  // Writes the active lanes of `value`, which has 32 lanes of reg.width bytes.
  void set(const RegisterRef& reg, Mask active, const void* value);
  // Returns the address in `base` plus the offset of `op`.
  u64 address(const Op& op, const RegisterRef& base, int lane) const {
    return this->lane(base, lane) + static_cast<u64>(op.offset);
  }

  // Control.
  const std::vector<Subwarp>& subwarps() const { return subwarps_; }
  Subwarp& subwarp() { return subwarps_[current_]; }
  const Subwarp& subwarp() const { return subwarps_[current_]; }
  bool select();        // the runnable subwarp with the lowest pc that is not delayed; returns false if there is none
  bool select_other();  // any other runnable subwarp, for fairness
  void merge();         // merges subwarps at the same pc into the current one
  bool end_delays();    // ends all delays; returns true if the current subwarp had run ahead of a delayed one
  bool converged(const Op& op) const;
  void branch(u32 target, Mask taken);
  void branch(const std::map<u32, Mask>& targets);  // lanes in no target continue with the next instruction
  void exit(Mask lanes);
  Step wait_for(const void* token, Step how, u64 detail = 0);
  bool wake(const void* token);  // returns true if a subwarp became runnable
  bool runnable() const;
  bool queued = false;  // whether it is in the scheduler's list

  // The number of asynchronous operations that own each register, for the checks.
  std::vector<u32> in_flight;  // by register number; empty until the first use
  u32 in_flight_count = 0;
  Taints taints;
  bool has_unusable_registers() const { return in_flight_count != 0 || taints.any(); }

  // Returns a location in the local memory or the stack of a lane. Throws Fault{bounds}.
  u8* local_at(u32 address, u32 bytes, int lane);
  CallStack& calls() { return *calls_; }

  check::Actor clock;
  u32 register_limit = 0;                 // by setmaxnreg
  u32 register_changes = 0;               // number of setmaxnreg executed
  u16 reducing = 0;                       // barriers at which this warp has arrived in bar.red, one bit each
  std::map<int, BulkGroups> bulk_groups;  // by lane; only lanes that have issued a bulk copy of a group
  // At the barrier of the cluster: lanes that have arrived in this phase, lanes that have yet to wait, and their phase.
  Mask cluster_arrived = 0, cluster_waits = 0;
  u32 cluster_phase = 0;
  CpAsyncGroups cp_async_groups;  // of cp.async
  WgmmaState wgmma;
  Mask carry = 0;  // the condition code register

 private:
  void split();
  void fill_presets();
  u64 preset_value(const Preset& preset, int lane) const;

  Machine& machine_;
  Block& block_;
  std::vector<u8> local_;             // of the 32 lanes, one after the other; empty until used
  std::unique_ptr<CallStack> calls_;  // null if the program has no out-of-line functions
  const u32 index_;
  const u32 actor_;
  Mask live_;
  std::vector<u8> storage_;
  u8* registers_;
  const u8* banks_[2];
  std::vector<Subwarp> subwarps_;
  std::size_t current_ = 0;
};

}  // namespace tma_jit::emulator
