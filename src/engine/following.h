// Requests of launches that follow each other.
#pragma once

#include <optional>

#include <tma_jit/request.h>

#include "engine/state.h"

namespace tma_jit::engine {

struct Stage {
  Request request;
  std::optional<Plan> searched;  // what Engine::State::search returns for the request; nullopt: it was not called
};

// Returns the request of a stage of a chain that follows another stage: with the values that its kernel's params have
// there (`asked chain VALUE` in a manifest), where all files have such a param, the request does not pin it, and the
// planner chooses another configuration with them. Else returns the request, which follows records of tuning as a
// launch alone does.
[[nodiscard]] Stage following(Engine::State& state, const Request& request);

}  // namespace tma_jit::engine
