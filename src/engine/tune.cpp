// Tuning by an engine's own records and on its device.
#include <tma_jit/tuning.h>

#include "engine/state.h"
#include "tuning/tuner.h"

namespace tma_jit {
namespace engine {

tuning::Conduct conduct_of(Engine::State& state) {
  tuning::Conduct conduct;
  conduct.known = [&state](const Request& request, const tuning::RecordBook& book) {
    return state.known(request, book);
  };
  conduct.digest = [&state](const Request& request, std::string_view stem) {
    return state.template_digest(request, stem);
  };
  return conduct;
}

}  // namespace engine

// Requests that all have records need no device.
Result<std::vector<TuneResult>> tune(Engine& engine, std::span<const Request> requests, const TuneOptions& options) {
  tuning::Conduct conduct = engine::conduct_of(EngineInternals::state_of(engine));
  conduct.begin = [&engine] { return synchronize(engine); };
  return tuning::tune(engine, requests, options, conduct);
}

}  // namespace tma_jit
