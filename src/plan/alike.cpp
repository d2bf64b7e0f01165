#include "plan/alike.h"

#include <algorithm>

#include "plan/condition.h"

namespace tma_jit::plan {

Config default_config(const templates::Template& kernel) {
  Config config;
  config.reserve(kernel.params.size());
  for (const templates::Param& param : kernel.params) config.emplace_back(param.name, param.default_value);
  return config;
}

std::optional<Request> pinned_alike(const templates::Template& kernel, const Request& request, const Config& config) {
  std::optional<Request> pinned;
  std::optional<std::vector<std::size_t>> problem;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const templates::Param& param = kernel.params[i];
    const auto other = std::ranges::find(config, param.name, &Config::value_type::first);
    if (other == config.end() || other->second == param.default_value || request.params.contains(param.name)) continue;
    if (!param.asked) {
      if (!request.tensors.empty()) continue;
      if (!problem) problem = params_of_problem(kernel);
      if (!std::ranges::binary_search(*problem, i)) continue;
    }
    if (!pinned) pinned = request;
    pinned->params.insert(*other);
  }
  return pinned;
}

}  // namespace tma_jit::plan
