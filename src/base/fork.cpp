#include "base/fork.h"

#include <pthread.h>

#include <ctime>

namespace tma_jit {
namespace {

constexpr time_t kPatienceSeconds = 10;

std::atomic<std::uint64_t> generation = 0;

pthread_mutex_t gate = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
thread_local bool held_by_fork = false;

// A thread that forks in the middle of what others hold the gate for, as a constructor of a library may, must not wait
// for ever.
void before_fork() {
  timespec limit{};
  ::clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += kPatienceSeconds;
  held_by_fork = ::pthread_mutex_timedlock(&gate, &limit) == 0;
}

void after_fork() {
  if (held_by_fork) ::pthread_mutex_unlock(&gate);
}

// A mutex of this kind knows its thread by a number that is another in the child.
void in_child() {
  gate = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  generation.fetch_add(1, std::memory_order_relaxed);
}

[[maybe_unused]] const int registered = ::pthread_atfork(before_fork, after_fork, in_child);

}  // namespace

std::uint64_t fork_generation() {
  return generation.load(std::memory_order_relaxed);
}

NoFork::NoFork() {
  ::pthread_mutex_lock(&gate);
}

NoFork::~NoFork() {
  ::pthread_mutex_unlock(&gate);
}

}  // namespace tma_jit
