// Encoding of tensor maps by the driver.
#pragma once

#include <cstdint>
#include <string_view>

#include <tma_jit/plan.h>

#include "driver/context.h"

namespace tma_jit::driver {

// Checks the spec (plan::check_tensor_map), which gives readable errors, then calls the driver. `name` is the tensor's.
[[nodiscard]] Result<CUtensorMap> encode(const Context& context, const TensorMapSpec& spec, std::uint64_t address,
                                         std::string_view name);

// Replaces the address in an encoded map, which costs a few stores. It must be a multiple of plan::alignment_of(spec).
[[nodiscard]] Result<void> replace_address(const Context& context, const TensorMapSpec& spec, CUtensorMap& map,
                                           std::uint64_t address);

// Returns the bytes from a tensor's first element to the end of its last.
std::uint64_t footprint_of(const TensorMapSpec& spec);

}  // namespace tma_jit::driver
