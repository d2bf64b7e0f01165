// Device and host time of a launch.
#pragma once

#include <tma_jit/device.h>

#include "driver/context.h"

namespace tma_jit::driver {

// Both use a stream of their own; when they return, all their work is done.
[[nodiscard]] Result<Measurement> measure(const driver::SharedContext& context, Launch& launch,
                                          const MeasureOptions& options);

[[nodiscard]] Result<RoundTimes> measure_in_turns(const driver::SharedContext& context,
                                                  std::span<Launch* const> launches, const MeasureOptions& options);

}  // namespace tma_jit::driver
