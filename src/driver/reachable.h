// Whether a device can access an address, checked before a launch would fail with an error that destroys the context.
#pragma once

#include <cstdint>
#include <string_view>

#include "driver/context.h"

namespace tma_jit::driver {

// Asks the driver once. Fails (invalid_argument) for an address that CUDA does not know, unless the device can access
// pageable host memory: an ordinary host pointer, or freed memory. Also fails for another device's memory without
// access to it. Succeeds for pinned, registered and managed memory, and if the driver does not answer. `name` is the
// tensor's.
[[nodiscard]] Result<void> check_reachable(const Context& context, std::string_view name, std::uint64_t address);

}  // namespace tma_jit::driver
