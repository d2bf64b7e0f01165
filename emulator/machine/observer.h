// Who is told of what a launch does, where anyone is: the timeline. A machine tells it of every instruction, so that
// nothing here is called where nobody asked.
#pragma once

#include <string_view>

#include "emulator/machine/async_engine.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator {

class Observer {
 public:
  virtual ~Observer() = default;
  // A warp executes an instruction; it did, with this step.
  virtual void executes(const Warp& warp, const Op& op, Mask active) = 0;
  virtual void executed(const Warp& warp, const Op& op, Step step) = 0;
  virtual void exited(const Warp& warp) = 0;
  // Of an mbarrier; `phase` is the one that is over.
  virtual void completes_phase(const Block& block, u32 offset, u32 phase) = 0;
  virtual void issued(const async::Operation& operation) = 0;
  virtual void completed(const async::Operation& operation) = 0;
  virtual void moved(std::string_view what, u64 bytes) = 0;
  // The launch is over. Nothing is told after it. False where what was seen cannot be written.
  virtual bool finish() = 0;
};

}  // namespace tma_jit::emulator
