#include "base/fork.h"

#include <pthread.h>

#include <ctime>

namespace tma_jit {
namespace {

constexpr time_t kPatienceSeconds = 10;

std::atomic<std::uint64_t> generation = 0;

pthread_mutex_t gate = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
thread_local bool held_by_fork = false;

// Waits with a time limit: a thread may fork while another holds the gate (a library's constructor may do so) and must
// not deadlock.
void before_fork() {
  timespec limit{};
  ::clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += kPatienceSeconds;
  held_by_fork = ::pthread_mutex_timedlock(&gate, &limit) == 0;
}

void after_fork() {
  if (held_by_fork) ::pthread_mutex_unlock(&gate);
}

// A recursive mutex identifies its owner by thread id, and the id differs in the child.
void in_child() {
  gate = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  generation.fetch_add(1, std::memory_order_relaxed);
}

[[maybe_unused]] const int kRegistered = ::pthread_atfork(before_fork, after_fork, in_child);

}  // namespace

std::uint64_t fork_generation() {
  return generation.load(std::memory_order_relaxed);
}

void hold_forks() {
  ::pthread_mutex_lock(&gate);
}

void allow_forks() {
  ::pthread_mutex_unlock(&gate);
}

NoFork::NoFork() {
  hold_forks();
}

NoFork::~NoFork() {
  allow_forks();
}

}  // namespace tma_jit
