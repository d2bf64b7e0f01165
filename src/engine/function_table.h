// Finds what was prepared for a shape: readers take no lock and allocate nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "driver/launch_state.h"

namespace tma_jit::engine {

// A prepared kernel with the argument bytes that every call of its shape starts from.
struct FunctionEntry {
  std::vector<std::uint64_t> key;
  std::unique_ptr<Launch::State> launch;
  std::vector<std::size_t> argument_of;  // per tensor of the call: the index of its argument
  bool workspace_per_stream = false;     // the engine made workspaces: two streams must not share them
  Stream stream = nullptr;               // the stream whose workspaces they are
};

// Open addressing over atomic slots. Entries are never removed; a table that is half full is replaced by one of twice
// the size, and the old ones are kept for readers that still look at them.
class FunctionTable {
 public:
  FunctionTable();
  ~FunctionTable();

  // nullptr when there is none. Lock-free.
  const FunctionEntry* find(std::span<const std::uint64_t> key) const;
  // The entry of that key that is in the table: the given one, or one that another thread put first.
  const FunctionEntry* insert(std::unique_ptr<FunctionEntry> entry);

 private:
  struct Slots;
  static const FunctionEntry* find_in(const Slots& slots, std::span<const std::uint64_t> key);
  void place(Slots& slots, const FunctionEntry* entry);
  void grow();

  std::mutex mutex_;  // of writers
  std::atomic<Slots*> current_;
  std::vector<std::unique_ptr<Slots>> all_;
  std::vector<std::unique_ptr<FunctionEntry>> entries_;
};

}  // namespace tma_jit::engine
