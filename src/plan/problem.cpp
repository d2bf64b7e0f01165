#include "plan/problem.h"

#include <algorithm>

#include "plan/binding.h"
#include "template/operand_declarations.h"

namespace tma_jit::plan {
namespace {

using templates::Template;

Problem problem_in(const Binding& binding) {
  const Template& kernel = *binding.kernel;
  Problem problem;
  for (std::size_t i = 0; i < kernel.types.size(); ++i) problem.types[kernel.types[i].name] = binding.types[i];
  for (std::size_t i = 0; i < kernel.dims.size(); ++i) problem.dims[kernel.dims[i].name] = binding.dims[i];
  problem.tensor_operands = std::ranges::any_of(kernel.tensors, &templates::Tensor::operand);
  for (const templates::Hook& declared : kernel.hooks) {
    const auto given = binding.request->hooks.find(declared.name);
    Hook& hook = problem.hooks.emplace_back();
    hook.name = declared.name;
    hook.text = given != binding.request->hooks.end() ? given->second : declared.default_value.value_or("");
  }
  return problem;
}

}  // namespace

bool has_tensor_operands(const Template& file, const Request& request) {
  if (request.operands.empty()) return false;
  const auto extended = templates::with_operands(file, request.operands);
  return extended && std::ranges::any_of(extended->tensors, &templates::Tensor::operand);
}

std::optional<Problem> problem_of(const Template& file, const Request& request, const DeviceInfo& device) {
  if (request.operands.empty()) {
    const auto binding = bind(file, request, device);
    return binding ? std::optional(problem_in(*binding)) : std::nullopt;
  }
  const auto extended = templates::with_operands(file, request.operands);
  const auto binding = extended ? std::optional(bind(*extended, request, device)) : std::nullopt;
  return binding && *binding ? std::optional(problem_in(**binding)) : std::nullopt;
}

}  // namespace tma_jit::plan
