// The declarations of a template file as JSON.
#include <tma_jit/json.h>

#include <nlohmann/json.hpp>

namespace tma_jit {
namespace {

using Json = nlohmann::ordered_json;
using Info = KernelInfo;

Json object_of(const Info::Type& type);
Json object_of(const Info::Dim& dim);
Json object_of(const Info::Param& param);
Json object_of(const Info::Let& let);
Json object_of(const Info::Rule& rule);
Json object_of(const Info::Tensor& tensor);
Json object_of(const Info::Scalar& scalar);
Json object_of(const Info::Workspace& workspace);
Json object_of(const Info::Hook& hook);
Json object_of(const Info::Hook::Parameter& parameter);
Json object_of(const Info::Preset& preset);

Json object_of(const Info::Formula& formula) {
  return {{"text", formula.text}, {"names", formula.names}, {"params", formula.params}};
}

template <class Items> Json list_of(const Items& items) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(object_of(item));
  return list;
}

template <class Value> Json value_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json value_or_null(const std::optional<Info::Formula>& formula) {
  return formula ? object_of(*formula) : Json(nullptr);
}
Json value_or_null(const std::optional<Scalar>& scalar) {
  return scalar ? std::visit([](auto value) { return Json(value); }, *scalar) : Json(nullptr);
}

// Puts the fields that all declarations share before those of this one.
Json with_common(const Info::Declaration& declared, const Json& more) {
  Json object = {{"name", declared.name},
                 {"declaration", declared.declaration},
                 {"doc", declared.doc},
                 {"line", declared.line},
                 {"file", declared.file}};
  if (!declared.list.empty()) object["list"] = declared.list;
  object.update(more);
  return object;
}

Json object_of(const Info::Type& type) {
  Json choices = Json::array();
  for (const DType choice : type.choices) choices.push_back(name_of(choice));
  return with_common(type, {{"default", name_of(type.default_type)}, {"choices", choices}});
}
Json object_of(const Info::Dim& dim) {
  return with_common(dim, {{"least", dim.least},
                           {"most", dim.most},
                           {"wide", dim.wide},
                           {"value", value_or_null(dim.value)},
                           {"when", value_or_null(dim.when)}});
}
Json object_of(const Info::Param& param) {
  return with_common(param, {{"default", param.default_value},
                             {"values", param.values},
                             {"asked", param.asked},
                             {"chain", value_or_null(param.chain)}});
}
Json object_of(const Info::Let& let) {
  return with_common(let, {{"value", object_of(let.value)}});
}
Json object_of(const Info::Rule& rule) {
  return with_common(rule, {{"condition", object_of(rule.condition)}});
}
Json object_of(const Info::Scalar& scalar) {
  return with_common(scalar, {{"type", scalar.type}, {"default", value_or_null(scalar.default_value)}});
}
Json object_of(const Info::Workspace& workspace) {
  return with_common(workspace, {{"bytes", object_of(workspace.bytes)}, {"zeroed", workspace.zeroed}});
}

Json value_or_null(const std::optional<Info::Range>& range) {
  if (!range) return nullptr;
  return {{"least", object_of(range->least)},
          {"most", object_of(range->most)},
          {"rising", range->rising},
          {"checked", range->checked},
          {"distinct", value_or_null(range->distinct)}};
}

Json object_of(const Info::Tensor& tensor) {
  Json more = {{"type", tensor.type},
               {"shape", list_of(tensor.shape)},
               {"output", tensor.output},
               {"range", value_or_null(tensor.range)},
               {"when", value_or_null(tensor.when)},
               {"box", nullptr}};
  if (!tensor.box.empty()) {
    more["box"] = list_of(tensor.box);
    more["mode"] = name_of(tensor.mode);
    more["lower"] = list_of(tensor.lower);
    more["upper"] = list_of(tensor.upper);
    more["as"] = tensor.as ? Json(name_of(*tensor.as)) : Json(nullptr);
    more["steps"] = list_of(tensor.steps);
    more["swizzle"] = value_or_null(tensor.swizzle);
    more["atom"] = value_or_null(tensor.atom);
    more["flip"] = tensor.flip;
    more["interleave"] = value_or_null(tensor.interleave);
    more["l2"] = value_or_null(tensor.l2);
    more["fill"] = tensor.fill == Fill::nan ? "nan" : "zero";
    more["view"] = tensor.view;
  }
  return with_common(tensor, more);
}

Json object_of(const Info::Hook::Parameter& parameter) {
  return {{"type", parameter.type}, {"name", parameter.name}, {"when", value_or_null(parameter.when)}};
}
Json object_of(const Info::Hook& hook) {
  return with_common(hook, {{"parameters", list_of(hook.parameters)},
                            {"result", hook.result},
                            {"default", value_or_null(hook.default_text)}});
}

Json object_of(const Info::Preset& preset) {
  Json settings = Json::object();
  for (const auto& [param, value] : preset.settings) settings[param] = value;
  return with_common(preset, {{"settings", settings}, {"when", value_or_null(preset.when)}});
}

Json object_of(const Info::Launch& launch) {
  return {{"grid", list_of(launch.grid)},
          {"block", list_of(launch.block)},
          {"cluster", list_of(launch.cluster)},
          {"smem", value_or_null(launch.smem)},
          {"programmatic", launch.programmatic}};
}

Json object_of(const std::optional<Info::Reference>& reference) {
  if (!reference) return nullptr;
  return {{"entry", reference->entry},
          {"grid", list_of(reference->grid)},
          {"block", list_of(reference->block)},
          {"bits", value_or_null(reference->bits)}};
}

}  // namespace

std::string json_of(const KernelInfo& kernel) {
  const Json object = {{"kernel", kernel.kernel},
                       {"file", kernel.file},
                       {"doc", kernel.doc},
                       {"archs", kernel.archs},
                       {"embedded", kernel.embedded},
                       {"probe", kernel.probe},
                       {"preference", kernel.preference},
                       {"types", list_of(kernel.types)},
                       {"dims", list_of(kernel.dims)},
                       {"params", list_of(kernel.params)},
                       {"lets", list_of(kernel.lets)},
                       {"rules", list_of(kernel.rules)},
                       {"tensors", list_of(kernel.tensors)},
                       {"scalars", list_of(kernel.scalars)},
                       {"workspaces", list_of(kernel.workspaces)},
                       {"hooks", list_of(kernel.hooks)},
                       {"presets", list_of(kernel.presets)},
                       {"launch", object_of(kernel.launch)},
                       {"flops", value_or_null(kernel.flops)},
                       {"bytes", value_or_null(kernel.bytes)},
                       {"cycles", value_or_null(kernel.cycles)},
                       {"reference", object_of(kernel.reference)},
                       {"inputs", object_of(kernel.inputs)}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tma_jit
