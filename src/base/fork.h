// State that a fork's child must not take over: its locks may be held by threads the child does not have, and its
// sockets and child processes are the parent's.
#pragma once

#include <atomic>
#include <cstdint>

namespace tma_jit {

// How many forks lie between the library's start and this process: another number in a child than in its parent.
std::uint64_t fork_generation();

// Held while a thread of ours takes locks that a fork's child could not free: those of the dynamic loader, and of the
// driver while it starts. A fork waits for it, for ten seconds at most. The thread that holds it may fork, and may hold
// it twice.
class NoFork {
 public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
};

// One T a process: a child of a fork gets a fresh one at its first `get`. What it inherited is left untouched, for no
// lock in it can be trusted. Thread-safe.
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
