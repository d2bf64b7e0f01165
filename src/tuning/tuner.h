// Tuning beside other work, for the policies of an engine.
#pragma once

#include <span>
#include <vector>

#include <tma_jit/tuning.h>

#include "tuning/conduct.h"

namespace tma_jit::tuning {

// As tma_jit::tune. A device that fails is the error of the request in whose tuning it did.
[[nodiscard]] Result<std::vector<TuneResult>> tune(Engine& engine, std::span<const Request> requests,
                                                   const TuneOptions& options, const Conduct& conduct);

// Returns whether the calling thread tunes, so that a launch that it prepares is for the tuning itself.
[[nodiscard]] bool tuning_in_this_thread();

}  // namespace tma_jit::tuning
