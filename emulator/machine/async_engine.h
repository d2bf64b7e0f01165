// Asynchronous operations that have been issued but not yet performed. The policy chooses when each is performed,
// within the orders that PTX guarantees. An operation captures its operands and the issuer's clocks at issue.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "emulator/check/clock.h"
#include "emulator/machine/random.h"
#include "emulator/settings.h"
#include "emulator/word.h"

namespace tma_jit::emulator {

class Machine;
class Warp;
class Block;
struct Op;

class AsyncOperation {
 public:
  virtual ~AsyncOperation() = default;
  // Performs the next part and returns whether it was the last. An operation whose partial effects may be observed has
  // several parts.
  virtual bool perform(Machine& machine) = 0;
  // Returns false while a prerequisite is missing, e.g. the other warps of a warpgroup.
  virtual bool ready() const { return true; }

  Warp* warp = nullptr;  // the issuing warp
  Block* block = nullptr;
  const Op* op = nullptr;
  check::Stamp stamp;    // of its accesses: its channel and its tick in that channel
  check::Clocks clocks;  // those of the issuer at issue
};

// Performs its operations in issue order: wgmma of a warpgroup, tcgen05 of a block.
class AsyncQueue {
 public:
  bool empty() const { return operations_.empty(); }
  std::deque<std::shared_ptr<AsyncOperation>>& operations() { return operations_; }

 private:
  friend class AsyncEngine;
  std::deque<std::shared_ptr<AsyncOperation>> operations_;
  bool listed_ = false;
};

class AsyncEngine {
 public:
  AsyncEngine(Machine& machine, Policy policy, Random& random) : machine_(machine), policy_(policy), random_(random) {}

  // Submits an operation that is unordered with everything else in flight.
  void submit(std::shared_ptr<AsyncOperation> operation);
  // Submits an operation in the order of the queue, which must outlive it.
  void submit(std::shared_ptr<AsyncOperation> operation, AsyncQueue& queue);
  // Must be called when an operation of the queue becomes ready. Performs it at once if the policy is eager.
  void notify_ready(AsyncQueue& queue);

  bool pending() const { return !unordered_.empty() || !queues_.empty(); }
  // Performs a part of one ready operation; returns false if there is none. `idle` means that no warp can run, which
  // lets a starved operation proceed.
  bool step(bool idle);
  void steps(int most) {
    while (most-- > 0 && step(true)) {
    }
  }
  // Returns whether the policy requests a step now although warps can run.
  bool wants_step();
  // Performs all operations in flight for the block.
  void drain(const Block& block);
  // The operations that are in no queue.
  const std::list<std::shared_ptr<AsyncOperation>>& unordered() const { return unordered_; }

 private:
  bool perform(AsyncOperation& operation);
  void finish(AsyncQueue& queue);
  bool step_of(std::size_t index);
  bool waits(std::size_t index) const;

  Machine& machine_;
  const Policy policy_;
  Random& random_;
  std::list<std::shared_ptr<AsyncOperation>> unordered_;
  std::vector<AsyncQueue*> queues_;  // the non-empty queues
  const AsyncOperation* starved_ = nullptr;
  const AsyncOperation* last_ =
      nullptr;  // the operation of which a part was performed last; compared only, never dereferenced
};

}  // namespace tma_jit::emulator
