// Device and host time of a launch.
#pragma once

#include <tma_jit/device.h>

#include "driver/context.h"
#include "driver/memory.h"

namespace tma_jit::driver {

// What a measurement takes from the device.
struct MeasureLane {
  PrivateStream stream;
  Memory flushed;  // overwritten before each timed launch; empty: L2 is not flushed
};
// The context must be current.
[[nodiscard]] Result<MeasureLane> make_lane(const SharedContext& context, bool flush_l2);

// Both use a stream of their own and wait for the device's other work first; when they return, all their work is done.
[[nodiscard]] Result<Measurement> measure(const driver::SharedContext& context, Launch& launch,
                                          const MeasureOptions& options);

[[nodiscard]] Result<RoundTimes> measure_in_turns(const driver::SharedContext& context,
                                                  std::span<Launch* const> launches, const MeasureOptions& options);
// Uses the lane and waits for its work only.
[[nodiscard]] Result<RoundTimes> measure_in_turns(const SharedContext& context, const MeasureLane& lane,
                                                  std::span<Launch* const> launches, const MeasureOptions& options);

}  // namespace tma_jit::driver
