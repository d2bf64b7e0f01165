// Whether a device can reach an address at all, asked before a launch meets it as an error that ends the context.
#pragma once

#include <cstdint>
#include <string_view>

#include "driver/context.h"

namespace tma_jit::driver {

// One question to the driver. Fails (invalid_argument) for an address at which CUDA knows no memory, where the device
// cannot reach pageable host memory: an ordinary host pointer, or memory that was freed; and for another device's
// memory without access to it. Memory that is pinned, registered or managed is always fine, and so is whatever the
// driver has no answer for. `name` is the tensor's.
[[nodiscard]] Result<void> check_reachable(const Context& context, std::string_view name, std::uint64_t address);

}  // namespace tma_jit::driver
