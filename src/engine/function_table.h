// Finds the prepared kernel for a shape. Readers take no lock and allocate nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "driver/launch_state.h"

namespace tma_jit::engine {

class LaunchSwap;

// A prepared kernel, and the argument bytes from which every call of its shape starts.
struct FunctionEntry {
  FunctionEntry();
  ~FunctionEntry();

  std::vector<std::uint64_t> key;
  std::unique_ptr<Launch::State> launch;
  std::vector<std::size_t> argument_of;  // for each tensor of the call, the index of its argument
  bool workspace_per_stream = false;     // the engine made its workspaces, which two streams must not share
  driver::StreamId stream{};             // the stream that the workspaces belong to
  std::unique_ptr<LaunchSwap> swap;      // null: nothing will replace this entry
};

// A hash table with open addressing over atomic slots. Entries are never removed; one that is replaced is still there
// for calls that use it. A table that is half full is replaced by one of twice the size, and the old one is kept for
// readers that still use it.
class FunctionTable {
 public:
  FunctionTable();
  ~FunctionTable();

  // Returns nullptr if there is none. Lock-free.
  const FunctionEntry* find(std::span<const std::uint64_t> key) const;
  // Returns the entry for that key in the table: the given one, or one that another thread inserted first.
  const FunctionEntry* insert(std::unique_ptr<FunctionEntry> entry);
  // Makes later calls of `find` return `now`, which has the same key and outlives the table's use, instead of `before`,
  // an entry of the table.
  void replace(const FunctionEntry* before, const FunctionEntry* now);

 private:
  struct Slots;
  static const FunctionEntry* find_in(const Slots& slots, std::span<const std::uint64_t> key);
  void place(Slots& slots, const FunctionEntry* entry);
  void grow();

  std::mutex mutex_;  // held by writers
  std::atomic<Slots*> current_;
  std::vector<std::unique_ptr<Slots>> all_;
  std::vector<std::unique_ptr<FunctionEntry>> entries_;
  std::vector<const FunctionEntry*> found_;  // of every key the entry that `find` returns
};

}  // namespace tma_jit::engine
