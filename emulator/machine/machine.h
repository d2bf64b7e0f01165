// One launch: the blocks that are resident, what they share, and the run of it all to the end.
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

// What a launch asks for.
struct LaunchShape {
  Dim3 grid{1, 1, 1};
  Dim3 block{1, 1, 1};
  Dim3 cluster{1, 1, 1};
  u32 dynamic_shared = 0;
  u64 parameters = 0;        // the address of the parameter block, laid out as the program says, 128-byte aligned
  bool cooperative = false;  // all blocks are resident together
  u64 grid_workspace = 0;    // of a cooperative launch: what %envreg1 and %envreg2 tell; else 0
};

struct Counters {
  u64 instructions = 0;         // of warps
  u64 thread_instructions = 0;  // of lanes
  u64 asynchronous = 0;         // operations performed
};

// Where an access to shared memory goes.
struct SharedSpan {
  Block* block;
  u32 offset;
  u8* bytes;
};

class Machine {
 public:
  // All but the shape and the settings outlives it.
  Machine(const Program& program, const LaunchShape& shape, GlobalMemory& memory, const DeviceInfo& device,
          const Settings& settings);
  ~Machine();

  // Runs to the end. Throws Fault, with the place filled in.
  Counters run();

  const Program& program() const { return program_; }
  const LaunchShape& shape() const { return shape_; }
  const Settings& settings() const { return settings_; }
  const DeviceInfo& device() const { return device_; }
  const u8* constants() const { return constants_; }
  Random& random() { return random_; }
  // Lanes of one warp are promised no common progress. Whether a branch that some of them take lets those ahead that
  // would wait for the others; whether lanes part where all take a branch; and for how long.
  bool parts_lanes_of_branch() { return random_.below(4) != 0; }
  bool parts_lanes();
  u32 parted_for() { return u32{8} << random_.below(8); }  // up to 1,024 instructions
  async::Engine& async() { return async_; }
  check::TensorMaps& tensor_maps() { return tensor_maps_; }
  const GlobalMemory& memory() const { return memory_; }
  Counters& counters() { return counters_; }
  u64 instructions() const { return counters_.instructions; }
  // Who is told of the launch from now on. Before run().
  void observe(std::unique_ptr<Observer> observer);
  Observer* observer() { return observer_.get(); }  // null where there is none

  // Memory. Each throws Fault{bounds, alignment, cluster}; `from` is whose instruction it is.
  u8* global(u64 address, u64 bytes, bool write);
  // Whether one allocation holds all of it and takes the access.
  bool holds_global(u64 address, u64 bytes, bool write);
  SharedSpan shared(Block& from, u32 address, u32 bytes);
  SharedSpan shared_at(Block& owner, u32 offset, u32 bytes);  // in this very block
  // Tells the checker, if there is one.
  void record_shared(const SharedSpan& span, u32 bytes, const check::Access& access);
  void record_shared(Block& owner, std::span<const matrix::Span> spans, const check::Access& access);
  // Tells the checkers of an access to global memory that has been admitted. check::GlobalAccesses joins many.
  void record_global(const Block& block, u64 address, u64 bytes, const check::Access& access);
  // By global address: what strong stores there have released.
  std::unordered_map<u64, check::Published>& published() { return published_; }
  void refuse_mbarrier_store(const SharedSpan& span, u32 bytes);
  // Throws Fault{cluster} where `owner`, whose memory `what` is about to touch, has left.
  static void require_resident(const Block& owner, std::string_view what);

  // Something changed that a poll could see.
  void progress() { stalled_ = 0; }
  // Fragments that wait for the token become runnable.
  void wake(const void* token);
  void queue(Warp& warp);
  void warn(const std::string& text);
  // What the kernel prints; handed on at the end of the launch, or earlier where it is much.
  void print(std::string_view text);
  // malloc() of a kernel; 0 where the heap is full.
  u64 allocate_in_kernel(u64 bytes) { return memory_.allocate_in_kernel(bytes); }
  // free() of a kernel. Throws Fault{bounds} where no malloc() of one gave the address.
  void release_in_kernel(u64 address);
  // Takes the next cluster from those still to be launched: its first block; nothing where all have been.
  std::optional<Dim3> cancel_next_cluster();
  // A clock for an asynchronous engine of the cluster.
  check::ActorId new_channel(Cluster& cluster, std::string name);

  // For reports: "  then read by warp 3 lane 0 at FILE:LINE: OPCODE (PTX line N)".
  std::string describe(const Block& block, const check::Stamp& stamp, std::string_view what) const;
  // The same of an access to global memory, whose block or cluster may be gone.
  std::string describe_global(const check::Stamp& stamp, std::string_view what) const;
  std::string place_of(const Op& op) const;
  // The operation that runs, for faults found on its behalf; restores the former when it goes.
  class Acting {
   public:
    Acting(Machine& machine, const Warp* warp, const Op* op);
    ~Acting();
    Acting(const Acting&) = delete;
    Acting& operator=(const Acting&) = delete;

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
  // Of an instruction that lanes of `mask` are about to execute: registers that are not theirs to use (check/taint.h).
  // Throws Fault{in_flight, uninitialised}.
  void check_registers(Warp& warp, const Op& op, Mask mask);
  void settle(Warp& warp, Step step);
  void complete_place(Fault& fault) const;
  void finish_observer();
  void flush_print();
  Warp* pick_warp();
  void loop();
  [[noreturn]] void report_stuck(FaultKind kind, std::string message) const;

  const Program& program_;
  const LaunchShape shape_;
  GlobalMemory& memory_;
  const DeviceInfo& device_;
  const Settings settings_;
  std::vector<u8> constant_storage_;
  const u8* constants_;
  Random random_;
  u32 branches_to_parting_ = 1;
  Counters counters_;
  async::Engine async_;
  check::TensorMaps tensor_maps_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::unique_ptr<Cluster> retired_;  // the last one to go: what is reported of it names its warps
  u64 next_cluster_ = 0;
  u64 cluster_count_ = 0;
  std::vector<Warp*> runnable_;
  std::vector<Channel> channels_;
  std::set<std::string> warned_;
  std::string printed_;
  std::unique_ptr<Observer> observer_;
  // Allocations of global memory that were found lately, the first one last.
  struct Known {
    u64 begin = 0, end = 0;
    bool read_only = false;
    check::Written* written = nullptr;
    bool holds(u64 address, u64 bytes) const {
      return address >= begin && bytes <= end - begin && address <= end - bytes;
    }
  };
  const Known* known(u64 address, u64 bytes);
  check::GlobalShadow global_shadow_{*this};
  std::unordered_map<u64, check::Published> published_;
  void check_written(const Known& allocation, u64 address, u64 bytes, const check::Access& access);
  std::array<Known, 8> known_{};
  u64 stalled_ = 0;
  const Warp* acting_warp_ = nullptr;
  const Op* acting_op_ = nullptr;
};

}  // namespace tma_jit::emulator
