#include "engine/launch_swap.h"

#include <algorithm>

namespace tma_jit::engine {

void LaunchSwap::publish(std::unique_ptr<FunctionEntry> faster) {
  const std::lock_guard lock(mutex_);
  faster_ = std::move(faster);
}

const FunctionEntry* LaunchSwap::choose_captured(const FunctionEntry* planned, driver::StreamId stream,
                                                 std::uint64_t id) {
  const auto known = std::ranges::find(captures_, stream, &Captured::stream);
  if (known != captures_.end() && known->id == id) return known->entry;
  const Captured captured{stream, id, taken_ ? faster_.get() : planned};
  if (known != captures_.end()) {
    *known = captured;
  } else {
    captures_.push_back(captured);
  }
  return captured.entry;
}

const FunctionEntry* LaunchSwap::choose(const FunctionEntry* planned, driver::StreamId stream,
                                        const driver::Capture& capture) {
  const std::lock_guard lock(mutex_);
  if (capture.active) return choose_captured(planned, stream, capture.id);
  std::erase_if(captures_, [&](const Captured& captured) { return captured.stream == stream; });
  if (faster_ == nullptr) return planned;
  taken_ = true;
  const bool planned_in_graph = std::ranges::find(captures_, planned, &Captured::entry) != captures_.end();
  if (!replaced_ && !planned_in_graph) {
    table_.replace(planned, faster_.get());
    replaced_ = true;
  }
  return faster_.get();
}

}  // namespace tma_jit::engine
