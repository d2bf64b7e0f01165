#include "emulator/machine/async_engine.h"

#include <algorithm>

#include "emulator/machine/machine.h"
#include "emulator/machine/observer.h"

namespace tma_jit::emulator::async {

void Engine::submit(std::shared_ptr<Operation> operation) {
  if (machine_.observer() != nullptr) machine_.observer()->issued(*operation);
  if (policy_ == Policy::eager && operation->ready()) {
    while (!perform(*operation)) {
    }
    return;
  }
  if (policy_ == Policy::starved && starved_ == nullptr) starved_ = operation.get();
  loose_.push_back(std::move(operation));
}

void Engine::submit(std::shared_ptr<Operation> operation, Queue& queue) {
  if (machine_.observer() != nullptr) machine_.observer()->issued(*operation);
  queue.operations_.push_back(std::move(operation));
  if (!queue.listed_) queues_.push_back(&queue);
  queue.listed_ = true;
  kick(queue);
}

void Engine::kick(Queue& queue) {
  if (policy_ != Policy::eager) return;
  while (!queue.empty() && queue.operations_.front()->ready()) {
    if (perform(*queue.operations_.front())) finish(queue);
  }
}

bool Engine::perform(Operation& operation) {
  const Machine::Acting acting(machine_, operation.warp, operation.op);
  const bool done = operation.perform(machine_);
  last_ = done ? nullptr : &operation;
  machine_.progress();
  if (done) ++machine_.counters().asynchronous;
  if (done && machine_.observer() != nullptr) machine_.observer()->completed(operation);
  return done;
}

void Engine::finish(Queue& queue) {
  queue.operations_.pop_front();
  if (!queue.empty()) return;
  queue.listed_ = false;
  std::erase(queues_, &queue);
}

// Loose operations first, then the heads of the queues.
bool Engine::step_of(std::size_t index) {
  if (index < loose_.size()) {
    const auto at = std::next(loose_.begin(), static_cast<std::ptrdiff_t>(index));
    if (!(*at)->ready()) return false;
    if (perform(**at)) {
      if (at->get() == starved_) starved_ = nullptr;
      loose_.erase(at);
    }
    return true;
  }
  Queue& queue = *queues_[index - loose_.size()];
  if (!queue.operations_.front()->ready()) return false;
  if (perform(*queue.operations_.front())) finish(queue);
  return true;
}

bool Engine::step(bool idle) {
  const std::size_t count = loose_.size() + queues_.size();
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

// Whether the policy would rather have another operation's turn. Between two parts of one, when no other is there, the
// scheduler runs a warp.
bool Engine::waits(std::size_t index) const {
  if (index >= loose_.size())
    return policy_ == Policy::split && queues_[index - loose_.size()]->operations_.front().get() == last_;
  const Operation* const operation = std::next(loose_.begin(), static_cast<std::ptrdiff_t>(index))->get();
  return policy_ == Policy::split ? operation == last_ : operation == starved_;
}

bool Engine::wants_step() {
  if (policy_ == Policy::eager || policy_ == Policy::lazy || !pending()) return false;
  return policy_ == Policy::split || random_.below(4) == 0;
}

void Engine::drain(const Block& block) {
  const auto of_block = [&block](const std::shared_ptr<Operation>& operation) { return operation->block == &block; };
  while (true) {
    bool any = std::any_of(loose_.begin(), loose_.end(), of_block);
    for (const Queue* queue : queues_) {
      any = any || std::any_of(queue->operations_.begin(), queue->operations_.end(), of_block);
    }
    if (!any || !step(true)) return;
  }
}

}  // namespace tma_jit::emulator::async
