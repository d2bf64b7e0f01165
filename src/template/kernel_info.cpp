// Converts a template's declarations to the values of the public API.
#include <algorithm>

#include "template/dependencies.h"
#include "template/template.h"

namespace tma_jit::templates {
namespace {

KernelInfo::Formula formula(const Template& kernel, const Expression& expression) {
  KernelInfo::Formula made{std::string(expression.text())};
  for (const Reference& reference : expression.references()) {
    const bool named = reference.kind == Reference::Kind::name || reference.of_type();
    if (named && std::ranges::find(made.names, reference.name) == made.names.end())
      made.names.push_back(reference.name);
  }
  Dependencies dependencies(kernel, Dependencies::Through::lets);
  dependencies.add(expression);
  for (const std::size_t param : dependencies.params()) made.params.push_back(kernel.params[param].name);
  return made;
}

std::optional<KernelInfo::Formula> formula(const Template& kernel, const std::optional<Expression>& expression) {
  if (!expression) return std::nullopt;
  return formula(kernel, *expression);
}

std::vector<KernelInfo::Formula> formulas(const Template& kernel, const std::vector<Expression>& expressions) {
  std::vector<KernelInfo::Formula> made;
  made.reserve(expressions.size());
  for (const Expression& expression : expressions) made.push_back(formula(kernel, expression));
  return made;
}

std::vector<KernelInfo::Formula> formulas(const Template& kernel,
                                          const std::optional<std::vector<Expression>>& expressions) {
  return expressions ? formulas(kernel, *expressions) : std::vector<KernelInfo::Formula>();
}

KernelInfo::Declaration common(const Template& kernel, const Declaration& declared) {
  return {declared.name, declared.text, declared.doc, declared.at.line, kernel.source_of(declared.at).file,
          declared.list};
}

KernelInfo::Type info(const Template& kernel, const Type& type) {
  return {common(kernel, type), type.default_value, type.choices};
}
KernelInfo::Dim info(const Template& kernel, const Dim& dim) {
  return {common(kernel, dim), dim.min, dim.max, dim.wide, dim.value, formula(kernel, dim.when)};
}
KernelInfo::Param info(const Template& kernel, const Param& param) {
  return {common(kernel, param), param.default_value, param.values, param.asked, param.chain};
}
KernelInfo::Let info(const Template& kernel, const Let& let) {
  return {common(kernel, let), formula(kernel, let.value)};
}
KernelInfo::Rule info(const Template& kernel, const Rule& rule) {
  return {common(kernel, rule), formula(kernel, rule.condition)};
}
KernelInfo::Scalar info(const Template& kernel, const Scalar& scalar) {
  return {common(kernel, scalar), scalar.type.name, scalar.default_value};
}
KernelInfo::Workspace info(const Template& kernel, const Workspace& workspace) {
  return {common(kernel, workspace), formula(kernel, workspace.bytes), workspace.zeroed};
}

KernelInfo::Tensor info(const Template& kernel, const Tensor& tensor) {
  KernelInfo::Tensor made{common(kernel, tensor)};
  made.type = tensor.type.name;
  made.shape = formulas(kernel, tensor.shape);
  made.box = formulas(kernel, tensor.box);
  made.mode = tensor.mode;
  made.lower = formulas(kernel, tensor.lower);
  made.upper = formulas(kernel, tensor.upper);
  made.as = tensor.as;
  made.steps = formulas(kernel, tensor.steps);
  made.swizzle = formula(kernel, tensor.swizzle);
  made.atom = formula(kernel, tensor.atom);
  made.interleave = formula(kernel, tensor.interleave);
  made.l2 = formula(kernel, tensor.l2);
  made.flip = tensor.flip;
  made.fill = tensor.fill;
  made.view = tensor.viewed;
  made.output = tensor.output;
  if (const auto& range = tensor.range) {
    made.range = {formula(kernel, range->least), formula(kernel, range->most), range->rising, range->checked,
                  formula(kernel, range->distinct)};
  }
  made.when = formula(kernel, tensor.when);
  return made;
}

KernelInfo::Hook info(const Template& kernel, const Hook& hook) {
  KernelInfo::Hook made{common(kernel, hook)};
  for (const Hook::Parameter& parameter : hook.parameters) {
    made.parameters.push_back({parameter.type.name, parameter.name, formula(kernel, parameter.when)});
  }
  made.result = hook.result.name;
  made.default_text = hook.default_value;
  return made;
}

KernelInfo::Preset info(const Template& kernel, const Preset& preset) {
  KernelInfo::Preset made{common(kernel, preset)};
  for (const Preset::Setting& setting : preset.settings) made.settings.emplace_back(setting.param, setting.value);
  made.when = formula(kernel, preset.when);
  return made;
}

KernelInfo::Launch launch_info(const Template& kernel) {
  return {formulas(kernel, kernel.launch.grid), formulas(kernel, kernel.launch.block), formulas(kernel, kernel.cluster),
          formula(kernel, kernel.launch.smem), kernel.launch.programmatic};
}

std::optional<KernelInfo::Reference> info(const Template& kernel, const std::optional<ReferenceKernel>& declared) {
  if (!declared) return std::nullopt;
  return KernelInfo::Reference{declared->entry, formulas(kernel, declared->grid), formulas(kernel, declared->block),
                               formula(kernel, declared->bits)};
}

template <class Infos, class Declarations>
void append(const Template& kernel, Infos& infos, const Declarations& declarations) {
  for (const auto& declared : declarations) infos.push_back(info(kernel, declared));
}

}  // namespace

KernelInfo kernel_info(const Template& kernel) {
  KernelInfo made;
  made.kernel = kernel.kernel;
  made.file = kernel.file();
  made.doc = kernel.doc;
  made.embedded = kernel.embedded;
  made.probe = is_probe(kernel.file());
  made.archs = kernel.archs;
  made.preference = kernel.preference;
  append(kernel, made.types, kernel.types);
  append(kernel, made.dims, kernel.dims);
  append(kernel, made.params, kernel.params);
  append(kernel, made.lets, kernel.lets);
  append(kernel, made.rules, kernel.rules);
  append(kernel, made.tensors, kernel.tensors);
  append(kernel, made.scalars, kernel.scalars);
  append(kernel, made.workspaces, kernel.workspaces);
  append(kernel, made.hooks, kernel.hooks);
  append(kernel, made.presets, kernel.presets);
  made.launch = launch_info(kernel);
  made.flops = formula(kernel, kernel.work.flops);
  made.bytes = formula(kernel, kernel.work.bytes);
  made.cycles = formula(kernel, kernel.work.cycles);
  made.reference = info(kernel, kernel.reference);
  made.inputs = info(kernel, kernel.inputs);
  return made;
}

}  // namespace tma_jit::templates
