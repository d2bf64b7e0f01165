// Checks the names in a request: the template must declare each, and a choice must be among the template's.
#include <algorithm>
#include <functional>

#include "base/text.h"
#include "plan/binding.h"
#include "plan/fault.h"

namespace tma_jit::plan {
namespace {

template <class Declarations> std::vector<std::string> names_of(const Declarations& declarations) {
  std::vector<std::string> names;
  names.reserve(std::size(declarations));
  for (const auto& declared : declarations) names.push_back(declared.name);
  return names;
}

tl::unexpected<Error> unknown(const templates::Template& kernel, std::string_view kind, const std::string& name,
                              const std::vector<std::string>& names) {
  const std::string has = names.empty() ? fmt::format("it has no {}s", kind) : fmt::format("it has {}", joined(names));
  return unknown_name(fault(kernel, ErrorCode::not_found, "there is no {} \"{}\"; {}", kind, name, has), name, names);
}

// `given` is a map or list whose elements are names, or pairs that start with one.
template <class Given, class Declarations, class NameOf>
Result<void> all_known(const templates::Template& kernel, std::string_view kind, const Given& given,
                       const Declarations& declarations, NameOf name_of) {
  for (const auto& entry : given) {
    const std::string& name = name_of(entry);
    if (std::ranges::any_of(declarations, [&](const auto& declared) { return declared.name == name; })) continue;
    return unknown(kernel, kind, name, names_of(declarations));
  }
  return {};
}

Result<void> check_pins(const templates::Template& kernel, const Request& request) {
  for (const auto& [name, value] : request.params) {
    const templates::Param& param = *kernel.find_param(name);
    if (std::ranges::find(param.values, value) != param.values.end()) continue;
    return fault(kernel, ErrorCode::invalid_argument, "{} = {} is not among {{{}}}", name, value,
                 fmt::join(param.values, ", "));
  }
  return {};
}

Result<void> check_types(const templates::Template& kernel, const Request& request) {
  for (const auto& [name, type] : request.types) {
    const templates::Type& declared = *kernel.find_type(name);
    if (std::ranges::find(declared.choices, type) != declared.choices.end()) continue;
    std::vector<std::string> choices;
    for (const DType choice : declared.choices) choices.emplace_back(tma_jit::name_of(choice));
    return fault(kernel, ErrorCode::invalid_argument, "{} = {} is not among {{{}}}", name, tma_jit::name_of(type),
                 joined(choices));
  }
  return {};
}

}  // namespace

Result<void> check_names(const templates::Template& kernel, const Request& request) {
  const auto key = [](const auto& entry) -> const std::string& { return entry.first; };
  const std::identity itself;
  const auto tensor = [](const NamedTensor& named) -> const std::string& { return named.name; };
  TMA_JIT_CHECK(all_known(kernel, "tensor", request.tensors, kernel.tensors, tensor));
  TMA_JIT_CHECK(all_known(kernel, "tensor", request.present, kernel.tensors, itself));
  TMA_JIT_CHECK(all_known(kernel, "dim", request.dims, kernel.dims, key));
  TMA_JIT_CHECK(all_known(kernel, "dim", request.fixed, kernel.dims, itself));
  TMA_JIT_CHECK(all_known(kernel, "type", request.types, kernel.types, key));
  TMA_JIT_CHECK(all_known(kernel, "param", request.params, kernel.params, key));
  TMA_JIT_CHECK(all_known(kernel, "scalar", request.scalars, kernel.scalars, key));
  TMA_JIT_CHECK(all_known(kernel, "hook", request.hooks, kernel.hooks, key));
  TMA_JIT_CHECK(all_known(kernel, "workspace", request.workspaces, kernel.workspaces, key));
  if (request.sm_budget < 0) {
    return fault(kernel, ErrorCode::invalid_argument, "sm_budget is {}; it is a number of SMs, or 0 for all of them",
                 request.sm_budget);
  }
  TMA_JIT_CHECK(check_pins(kernel, request));
  return check_types(kernel, request);
}

}  // namespace tma_jit::plan
