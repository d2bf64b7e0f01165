// Under which conditions a problem is tuned, besides what its record says of types, dims, hooks and params.
#pragma once

#include <string>

#include <tma_jit/options.h>
#include <tma_jit/request.h>

namespace tma_jit::tuning {

// Returns how an engine's choice is narrower than the device's: "without TMA, within h100, for sm_90"; empty if it is
// not.
[[nodiscard]] std::string conditions_of(const Options& options);

// Returns the conditions of the request's engine, and what differs from packed tensors, with rows padded to 16 bytes,
// at aligned addresses: "A at 2, B rows 4, C strided". Numbers are the greatest powers of two that divide an address,
// or the distances in bytes of a tensor's rows, if that is less than 16; the elements of a strided tensor's rows lie
// apart. A request without tensors has only the conditions of its engine.
[[nodiscard]] std::string conditions_of(const Request& request, const std::string& engine);

}  // namespace tma_jit::tuning
