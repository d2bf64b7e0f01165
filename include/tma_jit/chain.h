// Launches that depend on each other, prepared together and launched with one call.
#pragma once

#include <cstddef>
#include <vector>

#include <tma_jit/launch.h>

namespace tma_jit {

// The stages of one computation in order, such as the products of an MLP; Engine::chain makes it. A stage sees all that
// the stages before it wrote, as if each were launched alone. Where it can, it is launched programmatically
// (programmatic dependent launch): its blocks start while the stage before it still runs, and load what no earlier
// stage of the chain writes, such as weights, before they wait for it. Two rules decide it: the kernel's template says
// that it waits, and which of its tensors it reads early; and no earlier stage writes memory of those. The first stage
// is launched plainly, and so begins after everything queued before the chain. Plan::geometry says what was decided. A
// stage after the first is planned as one that follows another, where its kernel's manifest has params for that.
//
// Owns its launches; move-only; may outlive its Engine. One thread at a time may call `launch` on one Chain. Its
// tensors' addresses do not change. A captured chain must outlive the graph's replays.
class TMA_JIT_API Chain {
 public:
  // Calls cuLaunchKernelEx once a stage, as Launch::launch does; in a capturing stream it becomes part of the graph.
  // After an error the stages behind the failed one are not launched.
  [[nodiscard]] Result<void> launch(Stream stream = nullptr);

  std::size_t size() const { return stages_.size(); }
  const Launch& operator[](std::size_t stage) const { return stages_[stage]; }

 private:
  friend class Engine;
  explicit Chain(std::vector<Launch> stages) : stages_(std::move(stages)) {}

  std::vector<Launch> stages_;
};

}  // namespace tma_jit
