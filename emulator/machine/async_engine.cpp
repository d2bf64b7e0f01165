#include "emulator/machine/async_engine.h"

#include <algorithm>

#include "emulator/machine/machine.h"
#include "emulator/machine/observer.h"

namespace tma_jit::emulator {

void AsyncEngine::submit(std::shared_ptr<AsyncOperation> operation) {
  if (machine_.observer() != nullptr) machine_.observer()->issued(*operation);
  if (policy_ == Policy::eager && operation->ready()) {
    while (!perform(*operation)) {
    }
    return;
  }
  if (policy_ == Policy::starved && starved_ == nullptr) starved_ = operation.get();
  unordered_.push_back(std::move(operation));
}

void AsyncEngine::submit(std::shared_ptr<AsyncOperation> operation, AsyncQueue& queue) {
  if (machine_.observer() != nullptr) machine_.observer()->issued(*operation);
  queue.operations_.push_back(std::move(operation));
  if (!queue.listed_) queues_.push_back(&queue);
  queue.listed_ = true;
  notify_ready(queue);
}

void AsyncEngine::notify_ready(AsyncQueue& queue) {
  if (policy_ != Policy::eager) return;
  while (!queue.empty() && queue.operations_.front()->ready()) {
    if (perform(*queue.operations_.front())) finish(queue);
  }
}

bool AsyncEngine::perform(AsyncOperation& operation) {
  const Machine::FaultContext fault_context(machine_, operation.warp, operation.op);
  const bool done = operation.perform(machine_);
  last_ = done ? nullptr : &operation;
  machine_.progress();
  if (done) ++machine_.counters().asynchronous;
  if (done && machine_.observer() != nullptr) machine_.observer()->completed(operation);
  return done;
}

void AsyncEngine::finish(AsyncQueue& queue) {
  queue.operations_.pop_front();
  if (!queue.empty()) return;
  queue.listed_ = false;
  std::erase(queues_, &queue);
}

// Indices count the unordered operations first, then the heads of the queues.
bool AsyncEngine::step_of(std::size_t index) {
  if (index < unordered_.size()) {
    const auto at = std::next(unordered_.begin(), static_cast<std::ptrdiff_t>(index));
    if (!(*at)->ready()) return false;
    if (perform(**at)) {
      if (at->get() == starved_) starved_ = nullptr;
      unordered_.erase(at);
    }
    return true;
  }
  AsyncQueue& queue = *queues_[index - unordered_.size()];
  if (!queue.operations_.front()->ready()) return false;
  if (perform(*queue.operations_.front())) finish(queue);
  return true;
}

bool AsyncEngine::step(bool idle) {
  const std::size_t count = unordered_.size() + queues_.size();
  if (count == 0) return false;
  const std::size_t first = random_.below(count);
  std::size_t held_back = count;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = (first + i) % count;
    if (waits(index)) {
      held_back = index;
      continue;
    }
    if (step_of(index)) return true;
  }
  return (idle || policy_ == Policy::split) && held_back < count && step_of(held_back);
}

// Returns whether the policy prefers another operation. Between two parts of an operation, if there is no other, the
// scheduler runs a warp.
bool AsyncEngine::waits(std::size_t index) const {
  if (index >= unordered_.size())
    return policy_ == Policy::split && queues_[index - unordered_.size()]->operations_.front().get() == last_;
  const AsyncOperation* const operation = std::next(unordered_.begin(), static_cast<std::ptrdiff_t>(index))->get();
  return policy_ == Policy::split ? operation == last_ : operation == starved_;
}

bool AsyncEngine::wants_step() {
  if (policy_ == Policy::eager || policy_ == Policy::lazy || !pending()) return false;
  return policy_ == Policy::split || random_.below(4) == 0;
}

void AsyncEngine::drain(const Block& block) {
  const auto of_block = [&block](const std::shared_ptr<AsyncOperation>& operation) {
    return operation->block == &block;
  };
  while (true) {
    bool any = std::any_of(unordered_.begin(), unordered_.end(), of_block);
    for (const AsyncQueue* queue : queues_) {
      any = any || std::any_of(queue->operations_.begin(), queue->operations_.end(), of_block);
    }
    if (!any || !step(true)) return;
  }
}

}  // namespace tma_jit::emulator
