#include "plan/alike.h"

#include <algorithm>

#include "plan/condition.h"

namespace tma_jit::plan {

void AlikeRequest::follow(const templates::Template& file) {
  value_ = [&file](const std::string& name) {
    const templates::Param* const param = file.find_param(name);
    return param != nullptr ? std::optional(param->default_value) : std::nullopt;
  };
}

void AlikeRequest::follow(const std::vector<std::pair<std::string, std::int64_t>>& config) {
  value_ = [&config](const std::string& name) {
    const auto found = std::ranges::find(config, name, &std::pair<std::string, std::int64_t>::first);
    return found != config.end() ? std::optional(found->second) : std::nullopt;
  };
}

const Request& AlikeRequest::in(const templates::Template& file) {
  if (!follows()) return request_;
  pinned_.reset();
  std::optional<std::vector<std::size_t>> problem;
  for (std::size_t i = 0; i < file.params.size(); ++i) {
    const templates::Param& param = file.params[i];
    const std::optional<std::int64_t> value = value_(param.name);
    if (value.value_or(param.default_value) == param.default_value || request_.params.contains(param.name)) continue;
    if (!param.asked) {
      if (!request_.tensors.empty()) continue;
      if (!problem) problem = params_of_problem(file);
      if (!std::ranges::binary_search(*problem, i)) continue;
    }
    if (!pinned_) pinned_ = request_;
    pinned_->params.emplace(param.name, *value);
  }
  return pinned_ ? *pinned_ : request_;
}

}  // namespace tma_jit::plan
