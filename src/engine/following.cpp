#include "engine/following.h"

#include <algorithm>
#include <map>

namespace tma_jit::engine {
namespace {

using Params = std::map<std::string, std::int64_t>;

// Returns the params that have another value in a chain, with that value, and that the request does not pin.
Params chained_params(Engine::State& state, const Request& request, const DeviceInfo& facts) {
  Params params;
  const auto selection = state.select(request.kernel, facts.arch);
  if (!selection) return params;  // what prepares the request reports it
  const auto& files = selection->templates();
  for (const templates::Param& param : files.front()->params) {
    const bool everywhere = std::ranges::all_of(files, [&](const templates::TemplatePointer& file) {
      const templates::Param* const other = file->find_param(param.name);
      return other != nullptr && other->chain == param.chain;
    });
    if (param.chain && everywhere && !request.params.contains(param.name)) params.emplace(param.name, *param.chain);
  }
  return params;
}

bool same_choice(const Plan& a, const Plan& b, const Params& params) {
  const auto choice = [&](const Plan& plan) {
    auto config = plan.config;
    std::erase_if(config, [&](const auto& word) { return params.contains(word.first); });
    return std::pair(plan.file, std::move(config));
  };
  return choice(a) == choice(b);
}

}  // namespace

Stage following(Engine::State& state, const Request& request) {
  const auto facts = state.facts_for(request);
  const Params params = facts ? chained_params(state, request, *facts) : Params();
  if (params.empty()) return {request, std::nullopt};
  Request chained = request;
  chained.params.insert(params.begin(), params.end());
  auto there = state.search(chained, *facts), alone = state.search(request, *facts);
  if (there && !(alone && same_choice(*there, *alone, params))) return {std::move(chained), *std::move(there)};
  return {request, alone ? std::optional(*std::move(alone)) : std::nullopt};
}

}  // namespace tma_jit::engine
