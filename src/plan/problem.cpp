#include "plan/problem.h"

#include "plan/binding.h"

namespace tma_jit::plan {
namespace {

using templates::Template;

Problem problem_in(const Binding& binding) {
  const Template& kernel = *binding.kernel;
  Problem problem;
  for (std::size_t i = 0; i < kernel.types.size(); ++i) problem.types[kernel.types[i].name] = binding.types[i];
  for (std::size_t i = 0; i < kernel.dims.size(); ++i) problem.dims[kernel.dims[i].name] = binding.dims[i];
  for (const templates::Hook& declared : kernel.hooks) {
    const auto given = binding.request->hooks.find(declared.name);
    Hook& hook = problem.hooks.emplace_back();
    hook.name = declared.name;
    hook.text = given != binding.request->hooks.end() ? given->second : declared.default_value.value_or("");
  }
  return problem;
}

}  // namespace

std::optional<Problem> problem_of(const Template& file, const Request& request, const DeviceInfo& device) {
  if (!request.operands.empty()) return std::nullopt;
  const auto binding = bind(file, request, device);
  return binding ? std::optional(problem_in(*binding)) : std::nullopt;
}

}  // namespace tma_jit::plan
