// Device and host time of a launch.
#pragma once

#include <tma_jit/device.h>

#include "driver/context.h"

namespace tma_jit::driver {

// Uses a stream of its own; when it returns, all its work is done.
[[nodiscard]] Result<Measurement> measure(const driver::SharedContext& context, Launch& launch,
                                          const MeasureOptions& options);

}  // namespace tma_jit::driver
