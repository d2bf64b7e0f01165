// A record of a launch for a timeline and a summary. Time is counted in instructions of warps: the emulator runs one at
// a time, so that a tick is one instruction of one warp. A machine has a trace only if one was requested.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/machine/observer.h"
#include "emulator/word.h"

namespace tma_jit::emulator::observe {

enum class Class : u8 { arithmetic, move, memory, copy, tensor_core, synchronisation, control };
inline constexpr std::size_t kClasses = 7;
std::string_view name_of(Class kind);

// One slice of a track, or a copy from issue to completion.
struct Event {
  enum class Kind : u8 { slice, operation };
  Kind kind = Kind::slice;
  u32 block = 0;  // linear in the grid
  u32 track = 0;  // a warp, or kFirstBarrier and above
  u64 begin = 0, end = 0;
  std::string_view category;  // "compute", "issue", "wait", "phase", "operation"
  std::string_view name;      // an opcode; empty for phases, whose number is `detail`
  u64 detail = 0;
  u32 line = 0;  // of the PTX
};

struct SharedUse {
  u64 instructions = 0, wavefronts = 0, least = 0;  // passes over the banks, and their minimum
};

class Trace : public Observer {
 public:
  static constexpr u32 kFirstBarrier =
      1000;  // tracks of mbarriers; those of named barriers and of the cluster barrier are below

  explicit Trace(const Machine& machine);

  void executes(const Warp& warp, const Op& op, Mask active) override;
  void executed(const Warp& warp, const Op& op, Step step) override;
  void exited(const Warp& warp) override;
  void completes_phase(const Block& block, u32 offset, u32 phase) override;
  void issued(const AsyncOperation& operation) override;
  void completed(const AsyncOperation& operation) override;
  void moved(std::string_view what, u64 bytes) override { bytes_[std::string(what)] += bytes; }
  // Closes open slices and writes the timeline to the file of the settings.
  bool finish() override;

  const std::vector<Event>& events() const { return events_; }
  const std::map<u32, std::map<u32, std::string>>& tracks() const { return tracks_; }  // names, by block
  const std::array<u64, kClasses>& mix() const { return mix_; }
  const std::map<std::string, u64>& opcodes() const { return opcodes_; }
  const std::map<std::string, u64>& bytes() const { return bytes_; }
  const std::map<std::string, SharedUse>& shared() const { return shared_; }
  u64 time() const { return time_; }
  u64 dropped() const { return dropped_; }

 private:
  struct Track {
    u64 begin = 0, end = 0;
    const Op* waits = nullptr;
    u64 waits_since = 0;
    bool open = false;
  };

  u32 number_of(const Block& block) const;
  void add(Event event);
  void close(const Warp& warp, Track& track);
  void count_banks(const Warp& warp, const Op& op, Mask active);
  void count_bytes(const Op& op, Mask active);

  const Machine& machine_;
  std::vector<Class> classes_;  // by op
  std::vector<Event> events_;
  std::map<u32, std::map<u32, std::string>> tracks_;
  std::unordered_map<const Warp*, Track> warps_;
  std::unordered_map<u64, u64> phases_;  // by block and offset: begin of the current phase
  std::unordered_map<const AsyncOperation*, u64> operations_;
  std::array<u64, kClasses> mix_{};
  std::map<std::string, u64> opcodes_, bytes_;
  std::map<std::string, SharedUse> shared_;
  u64 time_ = 0;
  u64 dropped_ = 0;  // events beyond the limit
};

// Appends a launch to the file, as one process of a timeline for Perfetto and Chrome, and as one element of "launches"
// with its summary. The first launch of a process truncates the file. Returns false if it cannot be written.
bool write_timeline(const std::string& file, const Machine& machine, const Trace& trace);

}  // namespace tma_jit::emulator::observe
