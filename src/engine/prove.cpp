// The proof that a cache has the kernel of every request.
#include <tma_jit/warm_list.h>

#include <chrono>

#include "core/failure.h"
#include "engine/state.h"

namespace tma_jit {
namespace {

Result<void> look_up(Engine::State& state, const Request& request) {
  TMA_JIT_ASSIGN(const Plan plan, state.plan(request));
  TMA_JIT_ASSIGN(const Source source, state.emit(plan));
  TMA_JIT_CHECK(state.builder.find(source));
  return {};
}

}  // namespace

Proof prove(Engine& engine, const std::vector<Request>& requests) {
  const auto start = std::chrono::steady_clock::now();
  Engine::State& state = EngineInternals::state_of(engine);
  Proof proof;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto found = look_up(state, requests[i]);
    if (found) {
      ++proof.there;
    } else {
      proof.missing.push_back({i, std::move(found).error()});
    }
  }
  proof.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return proof;
}

}  // namespace tma_jit
