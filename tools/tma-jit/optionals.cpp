// Which parameters must be pinned so that the optional tensors and hook arguments a command names exist.
#include <algorithm>
#include <functional>

#include "request.h"
#include "text.h"

namespace tma_jit::cli {
namespace {

// One optional thing that must exist: how to see that it does, and the parameters that decide it.
struct Wanted {
  std::string what;  // for the error
  std::function<bool(const Plan&)> exists;
  std::vector<std::string> params;
};

bool tensor_exists(const Plan& plan, const std::string& name) {
  return std::any_of(plan.arguments.begin(), plan.arguments.end(),
                     [&](const Argument& argument) { return argument.name == name && argument.present; });
}

bool hook_takes(const Plan& plan, const std::string& hook, const std::string& parameter) {
  for (const Hook& candidate : plan.hooks) {
    if (candidate.name == hook) {
      return std::any_of(candidate.parameters.begin(), candidate.parameters.end(),
                         [&](const Hook::Parameter& p) { return p.name == parameter; });
    }
  }
  return false;
}

// Of the names in a condition, those that are parameters the request leaves open.
std::vector<std::string> open_params(const Kernel& kernel, const Request& request,
                                     const std::vector<std::string>& names) {
  std::vector<std::string> open;
  for (const std::string& name : names)
    if (kernel.declares(&KernelInfo::params, name) && !request.params.contains(name)) open.push_back(name);
  return open;
}

void want_tensors(const Kernel& kernel, const Request& request, const std::set<std::string>& given,
                  std::vector<Wanted>& wanted) {
  for (const std::string& name : given) {
    for (const std::string& declaration : kernel.declarations(&KernelInfo::tensors, name)) {
      const std::vector<std::string> names = names_in_tensor_when(declaration);
      if (names.empty()) continue;
      wanted.push_back({"tensor " + name, [name](const Plan& plan) { return tensor_exists(plan, name); },
                        open_params(kernel, request, names)});
    }
  }
}

void want_hook_arguments(const Kernel& kernel, const Request& request, std::vector<Wanted>& wanted) {
  for (const auto& [hook, text] : request.hooks) {
    const std::vector<std::string> used = identifiers_in(text);
    for (const std::string& declaration : kernel.declarations(&KernelInfo::hooks, hook)) {
      for (const auto& [parameter, names] : names_in_hook_whens(declaration)) {
        if (std::find(used.begin(), used.end(), parameter) == used.end()) continue;
        wanted.push_back({fmt::format("argument {} of hook {}", parameter, hook),
                          [h = hook, p = parameter](const Plan& plan) { return hook_takes(plan, h, p); },
                          open_params(kernel, request, names)});
      }
    }
  }
}

// The values a parameter takes in valid configurations, in the planner's order of preference.
std::vector<std::int64_t> values_of(Engine& engine, const Request& request, const std::string& param) {
  std::vector<std::int64_t> values;
  const auto found = engine.enumerate(request);
  if (!found) return values;
  for (const auto& config : found->valid_configs) {
    for (const auto& [name, value] : config)
      if (name == param && std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

// Pins the first value with which `wanted` exists; false when there is none.
bool pin(Engine& engine, Request& request, const Wanted& wanted) {
  for (const std::string& param : wanted.params) {
    if (request.params.contains(param)) continue;
    for (const std::int64_t value : values_of(engine, request, param)) {
      Request attempt = request;
      attempt.params[param] = value;
      const auto plan = engine.plan(attempt);
      if (!plan || !wanted.exists(*plan)) continue;
      request = std::move(attempt);
      return true;
    }
  }
  return false;
}

}  // namespace

Outcome<Request> with_optionals(Engine& engine, const Kernel& kernel, Request request,
                                const std::set<std::string>& given) {
  std::vector<Wanted> wanted;
  want_tensors(kernel, request, given, wanted);
  want_hook_arguments(kernel, request, wanted);
  for (const Wanted& one : wanted) {
    const auto plan = engine.plan(request);
    if (!plan) return request;  // the caller's own plan says what is wrong
    if (one.exists(*plan) || pin(engine, request, one)) continue;
    return failed(ErrorCode::no_config, "{}: no configuration of this request has {}", kernel.name, one.what);
  }
  return request;
}

}  // namespace tma_jit::cli
