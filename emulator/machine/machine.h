// One launch: its resident blocks, the state that they share, and the loop that executes them.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/fault.h"
#include "emulator/machine/async_engine.h"
#include "emulator/machine/block.h"
#include "emulator/machine/global_memory.h"
#include "emulator/machine/random.h"
#include "emulator/machine/tensor_maps.h"
#include "emulator/settings.h"

#include <tma_jit/device_info.h>

namespace tma_jit::emulator {
class Observer;

// The parameters of a launch.
struct LaunchShape {
  Dim3 grid{1, 1, 1};
  Dim3 block{1, 1, 1};
  Dim3 cluster{1, 1, 1};
  bool explicit_cluster = false;  // the launch or the kernel states the cluster; a launch without one has clusters of 1
  u32 dynamic_shared = 0;
  u64 parameters = 0;        // the address of the parameter block, laid out as the program specifies, 128-byte aligned
  bool cooperative = false;  // all blocks are resident at once
  u64 grid_workspace = 0;    // of a cooperative launch: the address in %envreg1 and %envreg2; otherwise 0
};

struct Counters {
  u64 instructions = 0;         // per warp
  u64 thread_instructions = 0;  // per lane
  u64 asynchronous = 0;         // asynchronous operations performed
};

// The destination of an access to shared memory.
struct SharedSpan {
  Block* block;
  u32 offset;
  u8* bytes;
};

class Machine {
 public:
  // All arguments but the shape and the settings must outlive the machine.
  Machine(const Program& program, const LaunchShape& shape, GlobalMemory& memory, const DeviceInfo& device,
          const Settings& settings);
  ~Machine();

  // Executes the launch. Throws Fault with its location filled in.
  Counters run();

  const Program& program() const { return program_; }
  const LaunchShape& shape() const { return shape_; }
  const Settings& settings() const { return settings_; }
  const DeviceInfo& device() const { return device_; }
  const u8* constants() const { return constants_; }
  Random& random() { return random_; }
  // PTX guarantees no common progress to the lanes of a warp. These decide at random whether a divergent branch delays
  // the subwarp that would otherwise run first, whether a uniform branch splits the warp, and for how long the delay
  // lasts.
  bool delays_branch() { return random_.below(4) != 0; }
  bool splits_lanes();
  // Decides at random whether a try_wait that suspends returns false, as one does whose time limit has passed before
  // the phase is complete. Devices have limits of their own. PTX ISA 9.0, "mbarrier.test_wait, mbarrier.try_wait".
  bool ends_try_wait() { return random_.below(8) == 0; }
  u32 delay_length() { return u32{8} << random_.below(8); }  // up to 1,024 instructions
  AsyncEngine& async() { return async_; }
  TensorMaps& tensor_maps() { return tensor_maps_; }
  const GlobalMemory& memory() const { return memory_; }
  Counters& counters() { return counters_; }
  u64 instructions() const { return counters_.instructions; }
  // Sets the observer of the launch. Must be called before run().
  void observe(std::unique_ptr<Observer> observer);
  // Sets the launches that may still run. Must be called before run().
  void follow(EarlierLaunches earlier) { earlier_ = std::move(earlier); }
  // Returns what the launch did to global memory, after run(); null if the checks are off.
  std::shared_ptr<const LaunchRecord> record() const;
  Observer* observer() { return observer_.get(); }  // null if there is none

  // Memory. Each function throws Fault{bounds, alignment, cluster}; `from` is the block that executes the instruction.
  u8* global(u64 address, u64 bytes, bool write);
  // Returns whether one allocation contains the whole range and permits the access.
  bool holds_global(u64 address, u64 bytes, bool write);
  SharedSpan shared(Block& from, u32 address, u32 bytes);
  SharedSpan shared_at(Block& owner, u32 offset, u32 bytes);  // in the memory of `owner` itself
  // Reports an access to shared memory to the checkers, if enabled.
  void record_shared(const SharedSpan& span, u32 bytes, const check::Access& access);
  void record_shared(Block& owner, std::span<const ByteRange> ranges, const check::Access& access);
  // Reports a permitted access to global memory to the checkers. GlobalAccesses joins adjacent ones.
  void record_global(const Block& block, u64 address, u64 bytes, const check::Access& access);
  // By global address: the clocks that strong stores have released.
  std::unordered_map<u64, check::Published>& published() { return published_; }
  void check_mbarrier_store(const SharedSpan& span, u32 bytes);
  // Throws Fault{cluster} if `owner`, whose memory `what` accesses, has exited.
  static void require_resident(const Block& owner, std::string_view what);

  // Records a change of state that a polling warp could observe.
  void progress() { stalled_ = 0; }
  // Makes the subwarps that wait for the token runnable.
  void wake(const void* token);
  void queue(Warp& warp);
  void warn(const std::string& text);
  // Buffers output of the kernel. It is delivered at the end of the launch, or earlier if it is large.
  void print(std::string_view text);
  // malloc() in a kernel. Returns 0 if the heap is full.
  u64 allocate_in_kernel(u64 bytes) { return memory_.allocate_in_kernel(bytes); }
  // free() in a kernel. Throws Fault{bounds} if the address is not from malloc() in a kernel.
  void release_in_kernel(u64 address);
  // Removes the next cluster from those still to be launched and returns the index of its first block; nullopt if there
  // is none.
  std::optional<Dim3> cancel_next_cluster();
  // A clock for an asynchronous engine of the cluster.
  check::ActorId new_channel(Cluster& cluster, std::string name);

  // For reports: "  then read by warp 3 lane 0 at FILE:LINE: OPCODE (PTX line N)".
  std::string describe(const Block& block, const check::Stamp& stamp, std::string_view what) const;
  // The same for an access to global memory, whose block or cluster may have exited.
  std::string describe_global(const check::Stamp& stamp, std::string_view what) const;
  std::string location_of(const Op& op) const;
  // Sets the operation to which faults are attributed, and restores the previous one on destruction.
  class FaultContext {
   public:
    FaultContext(Machine& machine, const Warp* warp, const Op* op);
    ~FaultContext();
    FaultContext(const FaultContext&) = delete;
    FaultContext& operator=(const FaultContext&) = delete;

   private:
    Machine& machine_;
    const Warp* const warp_;
    const Op* const op_;
  };

 private:
  friend class Scheduler;
  struct Channel {
    const Cluster* cluster;
    check::ActorId id;
    std::string name;
  };
  Dim3 cluster_at(u64 number) const;
  Dim3 take_next_cluster();
  void start_cluster();
  void retire(std::size_t index);
  void run_warp(Warp& warp, u32 quantum);
  Step execute(Warp& warp, const Op& op);
  void warp_exited(Warp& warp);
  void block_exited(const Block& block);
  void check_exit(Block& block);
  // Checks that no register which the lanes of `mask` are about to use is in flight or tainted (machine/taint.h).
  // Throws Fault{in_flight, uninitialised}.
  void check_registers(Warp& warp, const Op& op, Mask mask) const;
  void apply_step(Warp& warp, Step step);
  void complete_location(Fault& fault) const;
  void finish_observer();
  void flush_print();
  Warp* pick_warp();
  void loop();
  [[noreturn]] void report_no_progress(FaultKind kind, std::string message) const;

  const Program& program_;
  const LaunchShape shape_;
  GlobalMemory& memory_;
  const DeviceInfo& device_;
  const Settings settings_;
  std::vector<u8> constant_storage_;
  const u8* constants_;
  Random random_;
  u32 branches_to_split_ = 1;
  Counters counters_;
  AsyncEngine async_;
  TensorMaps tensor_maps_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::unique_ptr<Cluster> retired_;  // the last cluster to exit, whose warps reports may still name
  u64 next_cluster_ = 0;
  u64 cluster_count_ = 0;
  std::vector<Warp*> runnable_;
  std::vector<Channel> channels_;
  std::set<std::string> warned_;
  std::string printed_;
  std::unique_ptr<Observer> observer_;
  // Recently used allocations of global memory, the most recent one last.
  struct CachedAllocation {
    u64 begin = 0, end = 0;
    bool read_only = false;
    check::Written* written = nullptr;
    bool holds(u64 address, u64 bytes) const {
      return address >= begin && bytes <= end - begin && address <= end - bytes;
    }
  };
  const CachedAllocation* cached_allocation(u64 address, u64 bytes);
  GlobalShadow global_shadow_{*this};
  EarlierLaunches earlier_;
  std::unordered_map<u64, check::Published> published_;
  void check_written(const CachedAllocation& allocation, u64 address, u64 bytes, const check::Access& access);
  std::array<CachedAllocation, 8> allocation_cache_{};
  u64 stalled_ = 0;
  const Warp* current_warp_ = nullptr;
  const Op* current_op_ = nullptr;
};

}  // namespace tma_jit::emulator
