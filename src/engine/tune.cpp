// Tuning by an engine's own records and on its device.
#include <tma_jit/tuning.h>

#include "core/sm_budget.h"
#include "engine/state.h"
#include "tuning/conditions.h"
#include "tuning/tuner.h"

namespace tma_jit {
namespace engine {

tuning::Conduct conduct_of(Engine::State& state) {
  struct Known {
    DeviceInfo facts;
    Records::Planning planning;
  };
  tuning::Conduct conduct;
  conduct.make_folder = [&state] { return state.builder.cache_writable(); };
  conduct.compiler = [&state] {
    const auto compiler = state.builder.compiler().open();
    return compiler ? (*compiler)->version() : std::string();
  };
  conduct.driver = [&state] {
    const auto version = state.device.driver_version();
    return version ? fmt::format("{}.{}", *version / 1000, *version % 1000 / 10) : std::string();
  };
  conduct.conditions = tuning::conditions_of(state.options);
  conduct.ready_worker = [&state] { state.builder.compiler().ready_worker(); };
  auto facts = state.device.facts();
  if (!facts) return conduct;
  const auto known = std::make_shared<Known>(Known{*std::move(facts), {}});
  known->planning = state.planning(known->facts);
  conduct.known = [&state, known](const Request& request, const tuning::RecordBook& book) {
    return state.records.known(request, within_budget(known->facts, request), known->planning, book);
  };
  conduct.follow = [&state](std::vector<tuning::SharedLine> lines) { state.records.follow(std::move(lines)); };
  conduct.digest = [&state, known](const Request& request, std::string_view stem) {
    return state.records.digest(request, stem, known->planning);
  };
  return conduct;
}

}  // namespace engine

// Requests that all have records need no device.
Result<std::vector<TuneResult>> tune(Engine& engine, std::span<const Request> requests, const TuneOptions& options) {
  tuning::Conduct conduct = engine::conduct_of(EngineInternals::state_of(engine));
  conduct.begin = [&engine] { return synchronize(engine); };
  if (!EngineInternals::state_of(engine).device.emulates()) conduct.rest = tuning::kRest;
  return tuning::tune(engine, requests, options, conduct);
}

}  // namespace tma_jit
