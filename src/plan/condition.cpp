#include "plan/condition.h"

#include <algorithm>

#include "core/failure.h"
#include "plan/geometry.h"
#include "plan/operands.h"
#include "plan/tensor_maps.h"
#include "template/dependencies.h"

namespace tma_jit::plan {
namespace {

using templates::Dependencies;
using templates::Expression;
using Judgement = Result<std::optional<Violation>>;

void append(std::vector<const Expression*>& to, const std::optional<Expression>& from) {
  if (from.has_value()) to.push_back(&*from);
}
void append(std::vector<const Expression*>& to, const std::vector<Expression>& from) {
  for (const Expression& expression : from) to.push_back(&expression);
}

// Returns whether a request without tensors lists this one as present.
bool asks_for(const Request& request, const templates::Tensor& tensor) {
  return std::ranges::find(request.present, tensor.name) != request.present.end();
}

bool binds_dim(const templates::Template& kernel, const Expression& entry) {
  const auto name = entry.single_name();
  return name.has_value() && kernel.find_dim(*name) != nullptr;
}

// Adds the condition that the optional arguments are present that the texts of the request's hooks use.
void add_operands(const Binding& binding, std::vector<Condition>& conditions) {
  const templates::Template& kernel = *binding.kernel;
  for (std::size_t i = 0; i < kernel.hooks.size(); ++i) {
    const templates::Hook& hook = kernel.hooks[i];
    const auto text = binding.request->hooks.find(hook.name);
    if (text == binding.request->hooks.end()) continue;
    for (std::size_t j = 0; j < hook.parameters.size(); ++j) {
      if (!hook.parameters[j].when.has_value() || !names_operand(text->second, hook.parameters[j].name)) continue;
      conditions.emplace_back(Condition::Kind::operand, i, j);
    }
  }
}

}  // namespace

Stage Condition::stage() const {
  if (of_presence() || kind_ == Kind::extent) return Stage::fit;
  return kind_ == Kind::rule ? Stage::rule : Stage::machine;
}

Judgement Condition::judge_presence(const Values& values) const {
  const templates::Tensor& tensor = values.binding().kernel->tensors[index_];
  const Binding& binding = values.binding();
  const bool given = binding.has_tensors ? binding.tensors[index_] != nullptr : asks_for(*binding.request, tensor);
  TMA_JIT_ASSIGN(const bool wanted, values.wanted(tensor));
  if (given == wanted) return std::nullopt;
  return Violation{fmt::format("tensor {} is {}", tensor.name, given ? "given" : "not given"),
                   tensor.when->values(values)};
}

// An optional dim that does not belong to the configuration is 0, which a request may give too.
Judgement Condition::judge_optional_dim(const Values& values) const {
  const Binding& binding = values.binding();
  const templates::Dim& dim = binding.kernel->dims[index_];
  TMA_JIT_ASSIGN(const std::int64_t wanted, dim.when->evaluate(values));
  if (wanted != 0 ? binding.has_dim[index_] : binding.dims[index_] == 0) return std::nullopt;
  return Violation{fmt::format("dim {} is {}", dim.name, wanted != 0 ? "not given" : "given"),
                   dim.when->values(values)};
}

Judgement Condition::judge_operand(const Values& values) const {
  const templates::Hook& hook = values.binding().kernel->hooks[index_];
  const templates::Hook::Parameter& parameter = hook.parameters[dimension_];
  TMA_JIT_ASSIGN(const std::int64_t there, parameter.when->evaluate(values));
  if (there != 0) return std::nullopt;
  return Violation{fmt::format("the text of hook {} names {}", hook.name, parameter.name),
                   parameter.when->values(values)};
}

Judgement Condition::judge_extent(const Values& values) const {
  const templates::Tensor& tensor = values.binding().kernel->tensors[index_];
  const Expression& entry = tensor.shape[dimension_];
  const std::int64_t given = values.binding().tensors[index_]->shape[dimension_];
  TMA_JIT_ASSIGN(const std::int64_t wanted, entry.evaluate(values));
  if (given == wanted) return std::nullopt;
  return Violation{fmt::format("dimension {} of tensor {} is {}, not {}", dimension_, tensor.name, given, wanted),
                   entry.values(values)};
}

Judgement Condition::judge_rule(const Values& values) const {
  const templates::Rule& rule = values.binding().kernel->rules[index_];
  TMA_JIT_ASSIGN(const std::int64_t holds, rule.condition.evaluate(values));
  if (holds != 0) return std::nullopt;
  return Violation{rule.doc, rule.condition.values(values)};
}

Judgement Condition::judge_map_memory(const Values& values) const {
  TMA_JIT_ASSIGN(const bool present, values.present(index_));
  if (!present) return std::nullopt;
  TMA_JIT_ASSIGN(const Layout layout, values.layout(index_));
  if (!layout.empty()) TMA_JIT_CHECK(check_memory_of_map(values, index_, layout));
  return std::nullopt;
}

// Where the memory of a given tensor is the fault, the condition about that tells it.
Judgement Condition::judge_tensor_map(const Values& values) const {
  TMA_JIT_ASSIGN(const bool present, values.present(index_));
  if (!present) return std::nullopt;
  TMA_JIT_ASSIGN(const Layout layout, values.layout(index_));
  if (layout.empty()) return std::nullopt;
  const Result<TensorMapSpec> spec = map_spec(values, index_, layout);
  if (spec) return std::nullopt;
  const bool given = values.binding().tensors[index_] != nullptr;
  if (given && !check_memory_of_map(values, index_, layout)) return std::nullopt;
  return tl::unexpected(spec.error());
}

Judgement Condition::judged(const Values& values) const {
  switch (kind_) {
    case Kind::presence: return judge_presence(values);
    case Kind::optional_dim: return judge_optional_dim(values);
    case Kind::operand: return judge_operand(values);
    case Kind::extent: return judge_extent(values);
    case Kind::rule: return judge_rule(values);
    case Kind::map_memory: return judge_map_memory(values);
    case Kind::tensor_map: return judge_tensor_map(values);
    case Kind::grid:
    case Kind::block: break;
  }
  Geometry geometry;
  TMA_JIT_CHECK(kind_ == Kind::grid ? set_grid(values, geometry) : set_block(values, geometry));
  return std::nullopt;
}

std::optional<Violation> Condition::violated(const Values& values) const {
  Judgement judgement = judged(values);
  if (judgement.has_value()) return std::move(*judgement);
  return Violation{std::move(judgement.error().message), {}};
}

const templates::Position& Condition::at(const Binding& binding) const {
  const templates::Template& kernel = *binding.kernel;
  if (kind_ == Kind::rule) return kernel.rules[index_].at;
  if (kind_ == Kind::operand) return kernel.hooks[index_].at;
  if (kind_ == Kind::optional_dim) return kernel.dims[index_].at;
  if (!of_launch()) return kernel.tensors[index_].at;
  return binding.stand_in() != nullptr ? binding.stand_in()->at : kernel.launch.at;
}

std::string Condition::text(const Binding& binding) const {
  const templates::Template& kernel = *binding.kernel;
  switch (kind_) {
    case Kind::presence:
      return fmt::format("tensor {} when {}", kernel.tensors[index_].name, kernel.tensors[index_].when->text());
    case Kind::optional_dim:
      return fmt::format("dim {} when {}", kernel.dims[index_].name, kernel.dims[index_].when->text());
    case Kind::operand: {
      const templates::Hook& hook = kernel.hooks[index_];
      const templates::Hook::Parameter& parameter = hook.parameters[dimension_];
      return fmt::format("{} of hook {} when {}", parameter.name, hook.name, parameter.when->text());
    }
    case Kind::extent:
      return fmt::format("the extent {} of tensor {}", kernel.tensors[index_].shape[dimension_].text(),
                         kernel.tensors[index_].name);
    case Kind::rule: return std::string(kernel.rules[index_].condition.text());
    case Kind::map_memory:
    case Kind::tensor_map: return fmt::format("the tensor map of {}", kernel.tensors[index_].name);
    case Kind::grid:
    case Kind::block: break;
  }
  return binding.stand_in() != nullptr ? fmt::format("the launch of {}", binding.stand_in()->entry) : "the launch";
}

std::vector<const Expression*> Condition::expressions(const templates::Template& kernel) const {
  std::vector<const Expression*> all;
  if (kind_ == Kind::rule) return {&kernel.rules[index_].condition};
  if (kind_ == Kind::optional_dim) return {&*kernel.dims[index_].when};
  if (kind_ == Kind::operand) return {&*kernel.hooks[index_].parameters[dimension_].when};
  if (kind_ == Kind::extent) return {&kernel.tensors[index_].shape[dimension_]};
  if (of_launch()) {
    const bool grid = kind_ == Kind::grid;
    append(all, grid ? kernel.launch.grid : kernel.launch.block);
    if (grid) append(all, kernel.cluster);
    if (!grid) append(all, kernel.launch.smem);
    for (const auto* other : {&kernel.reference, &kernel.inputs})
      if (other->has_value()) append(all, grid ? (*other)->grid : (*other)->block);
    return all;
  }
  const templates::Tensor& tensor = kernel.tensors[index_];
  append(all, tensor.when);
  if (kind_ == Kind::map_memory) append(all, tensor.interleave);
  if (kind_ == Kind::presence || kind_ == Kind::map_memory) return all;
  append(all, tensor.shape);
  append(all, tensor.lower);
  append(all, tensor.upper);
  for (const auto* part : {&tensor.swizzle, &tensor.atom, &tensor.interleave, &tensor.l2}) append(all, *part);
  if (tensor.box.has_value()) append(all, *tensor.box);
  if (tensor.steps.has_value()) append(all, *tensor.steps);
  return all;
}

std::vector<std::size_t> Condition::params(const Binding& binding) const {
  Dependencies dependencies(*binding.kernel, Dependencies::Through::strides);
  for (const Expression* expression : expressions(*binding.kernel)) dependencies.add(*expression);
  return dependencies.params();
}

std::vector<Condition> conditions_of(const Binding& binding) {
  using Kind = Condition::Kind;
  const templates::Template& kernel = *binding.kernel;
  std::vector<Condition> conditions;
  conditions.reserve(kernel.dims.size() + 3 * kernel.tensors.size() + kernel.rules.size() + 2);
  for (std::size_t i = 0; i < kernel.dims.size(); ++i) {
    if (kernel.dims[i].when.has_value()) conditions.emplace_back(Kind::optional_dim, i);
  }
  for (std::size_t i = 0; i < kernel.tensors.size(); ++i) {
    const bool decided = binding.has_tensors || asks_for(*binding.request, kernel.tensors[i]);
    if (decided && kernel.tensors[i].when.has_value()) conditions.emplace_back(Kind::presence, i);
    if (binding.tensors[i] == nullptr) continue;
    for (std::size_t d = 0; d < kernel.tensors[i].shape.size(); ++d) {
      if (!binds_dim(kernel, kernel.tensors[i].shape[d])) conditions.emplace_back(Kind::extent, i, d);
    }
  }
  add_operands(binding, conditions);
  for (std::size_t i = 0; i < kernel.rules.size(); ++i) conditions.emplace_back(Kind::rule, i);
  for (const Kind kind : {Kind::map_memory, Kind::tensor_map}) {
    for (std::size_t i = 0; i < kernel.tensors.size(); ++i) {
      const bool judged = kind == Kind::tensor_map || binding.tensors[i] != nullptr;
      if (judged && kernel.tensors[i].box.has_value() && binding.stand_in() == nullptr)
        conditions.emplace_back(kind, i);
    }
  }
  for (const Kind kind : {Kind::grid, Kind::block}) conditions.emplace_back(kind, 0);
  return conditions;
}

std::vector<std::size_t> params_of_problem(const templates::Template& kernel) {
  Dependencies dependencies(kernel, Dependencies::Through::strides);
  const auto add = [&](const std::optional<Expression>& when) {
    if (when.has_value()) dependencies.add(*when);
  };
  for (const templates::Dim& dim : kernel.dims) add(dim.when);
  for (const templates::Tensor& tensor : kernel.tensors) {
    add(tensor.when);
    for (const Expression& extent : tensor.shape) dependencies.add(extent);
  }
  return dependencies.params();
}

bool valid(const Values& values, const std::vector<Condition>& conditions) {
  return std::ranges::none_of(conditions,
                              [&](const Condition& condition) { return condition.violated(values).has_value(); });
}

}  // namespace tma_jit::plan
