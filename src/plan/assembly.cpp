#include "plan/assembly.h"

#include "plan/arguments.h"
#include "plan/cycles.h"
#include "plan/fault.h"
#include "plan/geometry.h"

namespace tma_jit::plan {
namespace {

using templates::Expression;

// Returns the constant for a type, param, let or dim; nullopt if its value is known only at launch.
Result<std::optional<Constant>> constant_of(const Values& values, const templates::DeclarationIndex& declaration) {
  using List = templates::DeclarationIndex::List;
  const Binding& binding = values.binding();
  const templates::Template& kernel = *binding.kernel;
  Constant constant;
  if (declaration.list == List::types) {
    constant.name = kernel.types[declaration.index].name;
    constant.kind = Constant::Kind::type;
    constant.type = binding.types[declaration.index];
    constant.origin = "type";
  } else if (declaration.list == List::params) {
    constant.name = kernel.params[declaration.index].name;
    constant.value = values.params()[declaration.index];
    constant.origin = "param";
  } else if (declaration.list == List::lets) {
    const templates::Let& let = kernel.lets[declaration.index];
    if (templates::launch_time(let, binding.fixed)) return std::nullopt;
    constant.name = let.name;
    TMA_JIT_ASSIGN(constant.value, values.let(declaration.index));
    constant.origin = "let";
  } else {
    const templates::Dim& dim = kernel.dims[declaration.index];
    if (!dim.value.has_value() && !binding.fixed.contains(dim.name)) return std::nullopt;
    constant.name = dim.name;
    constant.value = binding.dims[declaration.index];
    constant.origin = "dim";
  }
  return constant;
}

Result<std::vector<Constant>> constants_of(const Values& values) {
  const std::vector<templates::DeclarationIndex>& ordered = values.binding().kernel->ordered;
  std::vector<Constant> constants;
  constants.reserve(ordered.size());
  for (const templates::DeclarationIndex& declaration : ordered) {
    TMA_JIT_ASSIGN(std::optional<Constant> constant, constant_of(values, declaration));
    if (constant.has_value()) constants.push_back(std::move(*constant));
  }
  return constants;
}

// A reference, and what computes inputs, compute in f64 where the kernel computes in f32.
DType hook_type(const Binding& binding, const templates::TypeName& name) {
  const DType type = binding.type_of(name);
  return binding.stand_in() != nullptr && type == DType::f32 ? DType::f64 : type;
}

Result<Hook> hook_of(const Values& values, const templates::Hook& declared) {
  const Binding& binding = values.binding();
  const auto given = binding.request->hooks.find(declared.name);
  const bool is_given = given != binding.request->hooks.end();
  Hook hook{declared.name,
            hook_type(binding, declared.result),
            {},
            is_given ? given->second : declared.default_value.value_or(""),
            is_given && binding.request->untrusted_hooks,
            declared.generic,
            binding.gives(declared)};
  if (hook.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return fault(*binding.kernel, ErrorCode::invalid_argument, "hook {} has no text; give an expression or a body: {}",
                 declared.name, declared.text);
  }
  for (const templates::Hook::Parameter& parameter : declared.parameters) {
    if (parameter.when.has_value()) {
      TMA_JIT_ASSIGN(const std::int64_t wanted, parameter.when->evaluate(values));
      if (wanted == 0) continue;
    }
    hook.parameters.push_back({hook_type(binding, parameter.type), parameter.name});
  }
  return hook;
}

// For display and rates only: a count that does not fit into 64 bits becomes 0, which means unknown.
double amount(const Values& values, const std::optional<Expression>& formula) {
  return formula.has_value() ? static_cast<double>(formula->evaluate(values).value_or(0)) : 0.0;
}

// Returns the `bits` of the template's `reference` directive.
Result<int> sum_bits_of(const Values& values) {
  const auto& reference = values.binding().kernel->reference;
  if (!reference || !reference->bits) return 0;
  TMA_JIT_ASSIGN(const std::int64_t bits, reference->bits->evaluate(values));
  if (bits < 0 || bits > 24) {
    return fault(*values.binding().kernel, ErrorCode::invalid_argument,
                 "reference {}: bits {} = {}; sums keep 1 to 24 bits, or 0 to say nothing of them", reference->entry,
                 reference->bits->text(), bits);
  }
  return static_cast<int>(bits);
}

}  // namespace

Result<Plan> assemble(Values& values, const std::vector<Condition>& conditions) {
  const Binding& binding = values.binding();
  const templates::Template& kernel = *binding.kernel;
  Plan plan;
  plan.kernel = kernel.kernel;
  plan.reference = binding.stand_in() != nullptr;
  plan.inputs = binding.request->inputs;
  plan.entry = plan.reference ? binding.stand_in()->entry : kernel.kernel;
  plan.file = kernel.file();
  plan.body = kernel.text();
  plan.used = kernel.used_text();
  plan.arch = binding.device->arch;
  TMA_JIT_ASSIGN(plan.constants, constants_of(values));
  plan.dims = dims_of(binding);
  for (const templates::Hook& declared : kernel.hooks) {
    TMA_JIT_ASSIGN(Hook hook, hook_of(values, declared));
    plan.hooks.push_back(std::move(hook));
  }
  TMA_JIT_ASSIGN(plan.arguments, arguments_of(values, conditions));
  TMA_JIT_ASSIGN(plan.geometry, geometry_of(values));
  TMA_JIT_ASSIGN(plan.sum_bits, sum_bits_of(values));
  plan.work = {amount(values, kernel.work.flops), amount(values, kernel.work.bytes),
               static_cast<double>(cycles_of(values).value_or(0))};
  plan.config.reserve(kernel.params.size());
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    plan.config.emplace_back(kernel.params[i].name, values.params()[i]);
  }
  plan.pins = binding.request->params;
  return plan;
}

}  // namespace tma_jit::plan
