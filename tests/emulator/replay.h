// A launch of one of the tree's kernels as the engine made it, to be emulated again and again: under other policies and
// seeds, and with a program that has been changed.
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
  std::string report;                 // of the fault; empty: none
  std::vector<std::string> warnings;  // each once
  bool same = false;                  // device memory is afterwards what it was after the first run
  std::uint64_t instructions = 0;     // of warps; 0 after a fault
  bool reported() const { return !report.empty() || !warnings.empty(); }
};

class Replay {
 public:
  // Prepares the launch of `request` on random data of small integers, runs it, and compares it with the reference
  // where there is one. What goes wrong there is `fault()`, and there is nothing to replay.
  Replay(Engine& engine, const std::string& arch, const Request& request);
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

// An engine on the emulated device of a target whose launches can be recorded. With `processors` it plans for as few,
// so that the blocks of persistent kernels go on to further tiles.
Engine recording_engine(const std::string& arch, int processors = 0);

// Settings of a run that must end: livelocks are found early.
emulator::Settings bounded(emulator::Policy policy, std::uint64_t seed);

}  // namespace tma_jit::testing
