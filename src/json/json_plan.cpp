// A plan and how it was chosen, as JSON.
#include <nlohmann/json.hpp>

#include <tma_jit/json.h>

#include "base/digest.h"
#include "json/json_tensor_map.h"

namespace tma_jit {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const char* name_of(Argument::Kind kind) {
  switch (kind) {
    case Argument::Kind::tensor_map: return "tensor map";
    case Argument::Kind::view: return "view";
    case Argument::Kind::workspace: return "workspace";
    case Argument::Kind::scalar: return "scalar";
    case Argument::Kind::dims: return "dims";
    case Argument::Kind::hooks: return "hooks";
  }
  return "dims";
}

// Two hexadecimal digits a byte, the lowest first.
std::string digits_of(const std::vector<std::byte>& image) {
  return to_hex({reinterpret_cast<const std::uint8_t*>(image.data()), image.size()});
}

Json object_of(const Argument& argument) {
  Json object = {{"kind", name_of(argument.kind)}, {"name", argument.name}, {"bytes", argument.image.size()}};
  if (!argument.list.empty()) object["list"] = argument.list;
  const bool tensor = argument.kind == Argument::Kind::tensor_map || argument.kind == Argument::Kind::view;
  if (tensor || argument.kind == Argument::Kind::scalar) object["dtype"] = name_of(argument.dtype);
  if (tensor) {
    object["present"] = argument.present;
    object["output"] = argument.output;
    object["shape"] = argument.shape;
    object["strides"] = argument.strides;
    object["address_alignment"] = argument.address_alignment;
  }
  if (const auto& range = argument.range) {
    object["range"] = {{"least", range->least},
                       {"most", range->most},
                       {"rising", range->rising},
                       {"checked", range->checked},
                       {"distinct", range->distinct}};
  }
  if (argument.kind == Argument::Kind::scalar) object["image"] = digits_of(argument.image);
  if (argument.hooks_offset) object["operand"] = argument.declaration;
  if (argument.map) object["map"] = json::object_of(*argument.map);
  if (argument.kind == Argument::Kind::workspace) {
    object["workspace_bytes"] = argument.workspace_bytes;
    object["zeroed"] = argument.workspace_zeroed;
  }
  return object;
}

Json constants_of(const Plan& plan) {
  Json constants = Json::array();
  for (const Constant& constant : plan.constants) {
    const bool type = constant.kind == Constant::Kind::type;
    constants.push_back({{"name", constant.name},
                         {"value", type ? Json(name_of(constant.type)) : Json(constant.value)},
                         {"origin", constant.origin}});
  }
  return constants;
}

Json dims_of(const Plan& plan) {
  Json dims = Json::array();
  for (const DimValue& dim : plan.dims) {
    dims.push_back({{"name", dim.name}, {"value", dim.value}, {"fixed", dim.fixed}, {"wide", dim.wide}});
  }
  return dims;
}

template <class Pairs> Json object_of_pairs(const Pairs& pairs) {
  Json object = Json::object();
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

}  // namespace

std::string json_of(const Plan& plan) {
  Json arguments = Json::array();
  for (const Argument& argument : plan.arguments) arguments.push_back(object_of(argument));
  Json hooks = Json::object();
  for (const Hook& hook : plan.hooks) hooks[hook.name] = hook.text;
  const Geometry& geometry = plan.geometry;
  return text_of({{"kernel", plan.kernel},
                  {"entry", plan.entry},
                  {"file", plan.file},
                  {"arch", plan.arch},
                  {"config", object_of_pairs(plan.config)},
                  {"dims", dims_of(plan)},
                  {"constants", constants_of(plan)},
                  {"hooks", hooks},
                  {"geometry",
                   {{"grid", geometry.grid},
                    {"block", geometry.block},
                    {"cluster", geometry.cluster},
                    {"smem_bytes", geometry.smem_bytes},
                    {"programmatic", geometry.programmatic}}},
                  {"arguments", arguments},
                  {"work", {{"flops", plan.work.flops}, {"bytes", plan.work.bytes}, {"cycles", plan.work.cycles}}},
                  {"sum_bits", plan.sum_bits},
                  {"record", plan.record},
                  {"reason", plan.reason},
                  {"avoided", plan.avoided}});
}

std::string json_of(const Enumeration& enumeration) {
  Json rules = Json::array();
  for (const RuleCount& rule : enumeration.rules) {
    rules.push_back({{"file", rule.file},
                     {"line", rule.line},
                     {"rule", rule.rule},
                     {"message", rule.message},
                     {"values", rule.values},
                     {"ruled_out", rule.ruled_out}});
  }
  Json configs = Json::array();
  for (const auto& config : enumeration.valid_configs) configs.push_back(object_of_pairs(config));
  return text_of({{"file", enumeration.file},
                  {"configurations", enumeration.configurations},
                  {"valid", enumeration.valid},
                  {"rules", rules},
                  {"valid_configs", configs}});
}

}  // namespace tma_jit
