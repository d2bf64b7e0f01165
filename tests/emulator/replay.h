// A recorded launch of a kernel of the repository, which can be emulated repeatedly under other policies and seeds, and
// with a modified program.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tma_jit/engine.h>

#include "emulator/driver/library.h"
#include "emulator/settings.h"

namespace tma_jit::testing {

struct ReplayResult {
  std::string report;                 // the fault's text; empty if there is none
  std::vector<std::string> warnings;  // distinct warnings
  bool same = false;                  // whether device memory equals that after the first run
  std::uint64_t instructions = 0;     // per warp; 0 after a fault
  bool reported() const { return !report.empty() || !warnings.empty(); }
};

class Replay {
 public:
  // Prepares the launch of `request` on random small integers, runs it, and compares it with the reference if there is
  // one, whose own races are looked for where it is asked for. An error is returned by `fault()`, and then there is
  // nothing to replay.
  Replay(Engine& engine, const std::string& arch, const Request& request, bool check_reference = false);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  const std::string& fault() const { return fault_; }
  const std::string& name() const { return name_; }  // "gemm T=bf16 BM=64 ... for sm_90a"
  const emulator::Program& program() const;

  ReplayResult run(const emulator::Settings& settings);
  ReplayResult run(const emulator::Settings& settings, const emulator::Program& program);

 private:
  struct State;
  void restore();
  bool unchanged() const;

  std::string name_;
  std::string fault_;
  std::unique_ptr<State> state_;
};

// Returns an engine on the emulated device of a target whose launches can be recorded. `processors` limits the
// multiprocessors that it plans for, so that the blocks of persistent kernels process several tiles.
Engine recording_engine(const std::string& arch, int processors = 0);

// Returns settings for a run that must end: livelocks are detected early.
emulator::Settings bounded(emulator::Policy policy, std::uint64_t seed);

}  // namespace tma_jit::testing
