// The proof that a cache has the kernel of every request.
#include <tma_jit/warm_list.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/together.h"
#include "core/failure.h"
#include "engine/state.h"

namespace tma_jit {
namespace {

constexpr std::size_t kThreadsMax = 16;

Result<void> look_up(Engine::State& state, const Request& request) {
  TMA_JIT_ASSIGN(const Plan plan, state.plan(request));
  TMA_JIT_ASSIGN(const source::Draft draft, state.draft(plan));
  TMA_JIT_CHECK(state.builder.find(draft));
  return {};
}

// Threads share the list, because most of a first look-up is planning.
std::vector<Result<void>> look_up_all(Engine::State& state, const std::vector<Request>& requests) {
  std::vector<Result<void>> found(requests.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < requests.size(); i = next++) found[i] = look_up(state, requests[i]);
  };
  const std::size_t count = std::min({kThreadsMax, requests.size(), std::size_t{std::thread::hardware_concurrency()}});
  run_together(count == 0 ? 0 : count - 1, work);
  return found;
}

}  // namespace

Proof prove(Engine& engine, const std::vector<Request>& requests) {
  const auto start = std::chrono::steady_clock::now();
  Engine::State& state = EngineInternals::state_of(engine);
  const std::vector<Result<void>> found = look_up_all(state, requests);
  Proof proof;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (found[i]) {
      ++proof.there;
    } else {
      proof.missing.push_back({i, found[i].error()});
    }
  }
  proof.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return proof;
}

}  // namespace tma_jit
