// How tuning shares the device with an application's work.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include <tma_jit/device.h>

namespace tma_jit::tuning {

// The default is for a device that does nothing else.
struct Conduct {
  const SideStream* side = nullptr;  // the stream of all its work; null: the default stream, and it waits for all work
  double relative_error = 0;        // the final rounds are repeated until no ratio's standard error is larger, which is
                                    // then that of the median; 0: they run once
  int rounds_at_once = 35;          // most rounds between two calls of `may_go_on`
  std::size_t compile_threads = 0;  // 0: as many as there are processors
  std::uint64_t memory_bytes = std::numeric_limits<std::uint64_t>::max();  // a problem that needs more is refused
  std::function<bool()> stopped{};    // polled while another process tunes with the same file; true ends the wait
  std::function<bool()> may_go_on{};  // called before each use of the device, may wait; returning false ends the tuning
                                      // with ErrorCode::cancelled
  std::function<void()> paused{};     // called after each use of the device
};

}  // namespace tma_jit::tuning
