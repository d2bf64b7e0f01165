// Which of two launches of a shape a call uses: the planned one, or the faster one that tuning found meanwhile.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "driver/context.h"
#include "engine/function_table.h"

namespace tma_jit::engine {

// Of one entry of a FunctionTable, from the request to tune it on. Thread-safe. A call outside captures takes the
// faster launch once it is published; only from then on may a capture begin with it. A capture uses for all its calls
// what its first call used, so that no swap changes a graph while it is captured. The table's entry is replaced when no
// capture is known that uses the planned one, and calls then no longer come here.
class LaunchSwap {
 public:
  explicit LaunchSwap(FunctionTable& table) : table_(table) {}

  // The planned launch stays: calls need not ask any more.
  void settle() { settled_.store(true, std::memory_order_release); }
  bool settled() const { return settled_.load(std::memory_order_acquire); }
  // Call it once, with an entry of the same key.
  void publish(std::unique_ptr<FunctionEntry> faster);

  // Returns the entry for a call on a stream that is in this state.
  const FunctionEntry* choose(const FunctionEntry* planned, driver::StreamId stream, const driver::Capture& capture);

 private:
  // A capture on a stream, and the entry of its first call.
  struct Captured {
    driver::StreamId stream{};
    std::uint64_t id = 0;
    const FunctionEntry* entry = nullptr;
  };
  const FunctionEntry* choose_captured(const FunctionEntry* planned, driver::StreamId stream, std::uint64_t id);

  FunctionTable& table_;
  std::atomic<bool> settled_ = false;
  std::mutex mutex_;
  std::unique_ptr<FunctionEntry> faster_;
  bool taken_ = false;              // a call outside captures has used the faster launch
  bool replaced_ = false;           // in the table
  std::vector<Captured> captures_;  // the last known one of each stream
};

}  // namespace tma_jit::engine
