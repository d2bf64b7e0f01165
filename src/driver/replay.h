// A launch as a CUDA graph of its own, as applications that capture their work run it.
#pragma once

#include <utility>

#include <tma_jit/engine.h>

#include "driver/context.h"

namespace tma_jit::driver {

// Owns the graph. The launch must outlive it, and keep its tensors.
class Replay {
 public:
  // Captures the launch, which does not run. The context must be current, and the stream must not be the default one.
  // Fails (unsupported) if the driver has no graphs, as the emulator's.
  [[nodiscard]] static Result<Replay> capture(const Context& context, CUstream stream, Launch& launch);
  ~Replay();
  Replay(Replay&& other) noexcept : api_(other.api_), graph_(std::exchange(other.graph_, nullptr)) {}
  Replay& operator=(Replay&&) = delete;

  [[nodiscard]] Result<void> run(CUstream stream) const;

 private:
  Replay(const Api& api, CUgraphExec graph) : api_(&api), graph_(graph) {}

  const Api* api_;
  CUgraphExec graph_;
};

}  // namespace tma_jit::driver
