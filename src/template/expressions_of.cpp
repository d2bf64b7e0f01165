#include "template/expressions_of.h"

namespace tma_jit::templates {
namespace {

void gather(std::optional<Expression>& expression, Expressions& all) {
  if (expression) all.push_back(&*expression);
}
void gather(std::vector<Expression>& list, Expressions& all) {
  for (Expression& expression : list) all.push_back(&expression);
}
void gather(Tensor& tensor, Expressions& all) {
  gather(tensor.shape, all);
  if (tensor.box) gather(*tensor.box, all);
  if (tensor.steps) gather(*tensor.steps, all);
  gather(tensor.lower, all);
  gather(tensor.upper, all);
  for (auto* expression : {&tensor.swizzle, &tensor.atom, &tensor.interleave, &tensor.l2, &tensor.when})
    gather(*expression, all);
  if (!tensor.range) return;
  all.push_back(&tensor.range->least);
  all.push_back(&tensor.range->most);
  gather(tensor.range->distinct, all);
}

}  // namespace

Expressions expressions_of(Tensor& tensor) {
  Expressions all;
  gather(tensor, all);
  return all;
}

Expressions expressions_of(Template& kernel) {
  Expressions all;
  for (Let& let : kernel.lets) all.push_back(&let.value);
  for (Rule& rule : kernel.rules) all.push_back(&rule.condition);
  for (Dim& dim : kernel.dims) gather(dim.when, all);
  for (Tensor& tensor : kernel.tensors) gather(tensor, all);
  for (Workspace& workspace : kernel.workspaces) all.push_back(&workspace.bytes);
  for (Hook& hook : kernel.hooks) {
    for (Hook::Parameter& parameter : hook.parameters) gather(parameter.when, all);
  }
  for (Preset& preset : kernel.presets) gather(preset.when, all);
  gather(kernel.cluster, all);
  gather(kernel.launch.grid, all);
  gather(kernel.launch.block, all);
  gather(kernel.launch.smem, all);
  gather(kernel.work.flops, all);
  gather(kernel.work.bytes, all);
  gather(kernel.work.cycles, all);
  for (auto* other : {&kernel.reference, &kernel.inputs}) {
    if (!*other) continue;
    gather((*other)->grid, all);
    gather((*other)->block, all);
    gather((*other)->bits, all);
  }
  return all;
}

}  // namespace tma_jit::templates
