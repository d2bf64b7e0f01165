#include "engine/following.h"

#include <algorithm>
#include <map>

namespace tma_jit::engine {
namespace {

struct Values {
  std::int64_t alone = 0, chained = 0;
};
using Chained = std::map<std::string, Values>;  // by the param

// Returns the params that have another value in a chain, and that the request does not pin.
Chained chained_params(Engine::State& state, const Request& request) {
  Chained params;
  const auto selection = state.select(request.kernel);
  if (!selection) return params;  // what prepares the request reports it
  for (const templates::TemplatePointer& file : selection->templates()) {
    for (const templates::Param& param : file->params) {
      if (param.chain && !request.params.contains(param.name))
        params.emplace(param.name, Values{param.default_value, *param.chain});
    }
  }
  return params;
}

Request pinned(Request request, const Chained& params, std::int64_t Values::*value) {
  for (const auto& [name, values] : params) request.params[name] = values.*value;
  return request;
}

bool same_choice(const Plan& a, const Plan& b, const Chained& params) {
  const auto choice = [&](const Plan& plan) {
    auto config = plan.config;
    std::erase_if(config, [&](const auto& word) { return params.contains(word.first); });
    return std::pair(plan.file, std::move(config));
  };
  return choice(a) == choice(b);
}

}  // namespace

Request following(Engine::State& state, const Request& request) {
  const Chained params = chained_params(state, request);
  if (params.empty()) return request;
  Request chained = pinned(request, params, &Values::chained);
  const auto there = state.plan(chained);
  const auto alone = state.plan(pinned(request, params, &Values::alone));
  if (!there || (alone && same_choice(*there, *alone, params))) return request;
  return chained;
}

}  // namespace tma_jit::engine
