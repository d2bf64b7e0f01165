// Requests of launches that follow each other.
#pragma once

#include <tma_jit/request.h>

#include "engine/state.h"

namespace tma_jit::engine {

// Returns the request of a stage of a chain that follows another stage: with the values that its kernel's params have
// there (`asked chain VALUE` in a manifest), where the request does not pin them and the planner chooses another
// configuration with them. Else returns the request, which follows records of tuning as a launch alone does.
[[nodiscard]] Request following(Engine::State& state, const Request& request);

}  // namespace tma_jit::engine
