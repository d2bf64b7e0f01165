// Operations that were issued and have not been performed yet, and when they are: that is the policy's choice, within
// the orders that PTX guarantees. An operation captures its operands and the issuer's clocks when it is issued.
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
}  // namespace tma_jit::emulator

namespace tma_jit::emulator::async {

class Operation {
 public:
  virtual ~Operation() = default;
  // Performs the next part; true when that was the last. Whatever may be seen half done has several parts.
  virtual bool perform(Machine& machine) = 0;
  // False while something is missing, e.g. the other warps of a warpgroup.
  virtual bool ready() const { return true; }

  Warp* warp = nullptr;  // the issuer
  Block* block = nullptr;
  const Op* op = nullptr;
  check::Stamp stamp;    // of its accesses: its channel and its place in the channel's order
  check::Clocks clocks;  // the issuer's when it was issued
};

// A queue performs its operations in the order of their issue: wgmma of a warpgroup, tcgen05 of a block.
class Queue {
 public:
  bool empty() const { return operations_.empty(); }
  std::deque<std::shared_ptr<Operation>>& operations() { return operations_; }

 private:
  friend class Engine;
  std::deque<std::shared_ptr<Operation>> operations_;
  bool listed_ = false;
};

class Engine {
 public:
  Engine(Machine& machine, Policy policy, Random& random) : machine_(machine), policy_(policy), random_(random) {}

  // Unordered with everything else in flight.
  void submit(std::shared_ptr<Operation> operation);
  // In the order of the queue, which must outlive the operation.
  void submit(std::shared_ptr<Operation> operation, Queue& queue);
  // After an operation became ready: performs it now where the policy is eager.
  void kick(Queue& queue);

  bool pending() const { return !loose_.empty() || !queues_.empty(); }
  // Performs a part of some operation that is ready; false if there is none. `idle`: no warp can run, so that an
  // operation that is starved has its turn.
  bool step(bool idle);
  void steps(int most) {
    while (most-- > 0 && step(true)) {
    }
  }
  // Whether the policy wants a step now although warps can run.
  bool wants_step();
  // What is in flight for the block, until nothing is.
  void drain(const Block& block);
  // Those that are in no queue.
  const std::list<std::shared_ptr<Operation>>& loose() const { return loose_; }

 private:
  bool perform(Operation& operation);
  void finish(Queue& queue);
  bool step_of(std::size_t index);
  bool waits(std::size_t index) const;

  Machine& machine_;
  const Policy policy_;
  Random& random_;
  std::list<std::shared_ptr<Operation>> loose_;
  std::vector<Queue*> queues_;  // those with operations
  const Operation* starved_ = nullptr;
  const Operation* last_ = nullptr;  // whose part was performed last; for comparison only
};

}  // namespace tma_jit::emulator::async
