// What processes under stress do: ask the cache for kernels, "compile" what is missing, and check every byte they get.
// The compiler is a sleep with a deterministic outcome, so that a test needs no GPU and counts every compile.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "cache/layers.h"

namespace tma_jit::stress {

using Clock = std::chrono::steady_clock;

inline constexpr unsigned kKeysMax = 8192;

// Shared by a scenario's processes: lies in memory that fork does not copy.
struct Counts {
  std::atomic<unsigned> waiting, go;
  std::atomic<std::uint64_t> hits, wrong, unsound, put_failures, reports, timeouts, longest_wait_us;
  std::atomic<std::uint32_t> compiles[kKeysMax];

  std::uint64_t total() const;
  // Keys that were compiled another number of times than once.
  unsigned not_once(unsigned keys) const;
};

// Memory that fork does not copy, zeroed; lives until the process ends.
void* shared_memory(std::size_t bytes);
Counts& shared_counts();

struct Work {
  unsigned compile_us = 10'000;
  std::size_t bytes = 4'000;
  bool noise = false;  // cubins that do not compress
};

cache::Entry expected_entry(unsigned number, const Work& work);
// As Builder::make does: get, wait for a turn, compile, put.
void obtain(cache::Layers& layers, unsigned number, const Work& work, Counts& counts);

// Reports are counted.
cache::LayerSettings settings_for(const std::filesystem::path& root, Counts& counts);

// Starts processes that wait for each other and then run `body`; returns when all have ended, with how many ended
// badly.
unsigned run_together(unsigned processes, Counts& counts, const std::function<void(unsigned process)>& body);

// In a child: its exit status, or -1 where a signal ended it.
int in_child(const std::function<int()>& body);
// The same as another user; -2 where this process may not become one.
int as_user(uid_t user, const std::function<int()>& body);

}  // namespace tma_jit::stress
