// The critical path of a block in a trace: the chain of instructions, copies and products in which each waited for the
// one before it, backwards from the block's last instruction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tma_jit::cli {

struct TimelineEvent {
  enum class Kind : std::uint8_t { run, issue, stall, copy, product, phase };
  Kind kind = Kind::run;
  std::uint32_t track = 0;  // a warp, or the number of an mbarrier for a phase
  double begin = 0, end = 0;
  std::string name;
  bool critical = false;
};

// Marks the events of the path. A stall is followed to what ended it: an operation that completed while the warp
// waited, or else another warp's last instruction before the end of the stall. A stall with neither is on the path
// itself.
void mark_critical_path(std::vector<TimelineEvent>& events);

}  // namespace tma_jit::cli
