// State that the child of a fork must not use: its locks may be held by threads that the child does not have, and its
// sockets and child processes belong to the parent.
#pragma once

#include <atomic>
#include <cstdint>

namespace tma_jit {

// Returns the number of forks between the library's start and this process; it differs between a child and its parent.
std::uint64_t fork_generation();

// Held while one of the library's threads takes locks that the child of a fork could not release: those of the dynamic
// loader, and of the driver while it starts. A fork waits for it for at most ten seconds. Recursive: the holding thread
// may take it again, and may fork.
class NoFork {
 public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
};

// The same for code that cannot keep an object: `allow_forks` ends what `hold_forks` began, in the same thread.
void hold_forks();
void allow_forks();

// One T per process: the child of a fork gets a new one at its first `get`. The inherited one is not touched, because
// its locks may be held for ever. Thread-safe.
template <class T> class PerProcess {
 public:
  PerProcess() : current_(new Held(fork_generation())) {}
  ~PerProcess() {
    const Held* held = current_.load();
    if (held->generation == fork_generation()) delete held;
  }
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;

  T& get() {
    Held* held = current_.load(std::memory_order_acquire);
    const std::uint64_t generation = fork_generation();
    if (held->generation == generation) [[likely]]
      return held->value;
    auto* fresh = new Held(generation);
    if (current_.compare_exchange_strong(held, fresh)) return fresh->value;
    delete fresh;
    return held->value;
  }

 private:
  struct Held {
    explicit Held(std::uint64_t made_in) : generation(made_in) {}
    const std::uint64_t generation;
    T value;
  };
  std::atomic<Held*> current_;
};

}  // namespace tma_jit
