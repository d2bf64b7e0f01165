// The interface through which a machine reports a launch, e.g. to the timeline. It is called for every instruction, and
// not at all if there is no observer.
#pragma once

#include <string_view>

#include "emulator/machine/async_engine.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator {

class Observer {
 public:
  virtual ~Observer() = default;
  // Called before and after a warp executes an instruction.
  virtual void executes(const Warp& warp, const Op& op, Mask active) = 0;
  virtual void executed(const Warp& warp, const Op& op, Step step) = 0;
  virtual void exited(const Warp& warp) = 0;
  // Called when an mbarrier completes `phase`.
  virtual void completes_phase(const Block& block, u32 offset, u32 phase) = 0;
  virtual void issued(const AsyncOperation& operation) = 0;
  virtual void completed(const AsyncOperation& operation) = 0;
  virtual void moved(std::string_view what, u64 bytes) = 0;
  // Called at the end of the launch; no other call follows. Returns false if the results cannot be written.
  virtual bool finish() = 0;
};

}  // namespace tma_jit::emulator
