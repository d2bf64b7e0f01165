#include "base/fork.h"

#include <pthread.h>

namespace tma_jit {
namespace {

std::atomic<std::uint64_t> generation = 0;

void count_fork() {
  generation.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint64_t fork_generation() {
  [[maybe_unused]] static const int registered = ::pthread_atfork(nullptr, nullptr, count_fork);
  return generation.load(std::memory_order_relaxed);
}

}  // namespace tma_jit
