#include "plan/preset_configs.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "base/text.h"
#include "core/failure.h"
#include "device/fact_names.h"
#include "plan/fault.h"
#include "plan/search.h"

namespace tma_jit::plan {
namespace {

// What only a request changes is as the first preset has it, for which the file may be made.
std::map<std::string, std::int64_t> defaults_of(const templates::Template& kernel) {
  std::map<std::string, std::int64_t> params;
  for (const templates::Param& param : kernel.params) params[param.name] = param.default_value;
  if (kernel.presets.empty()) return params;
  for (const templates::Preset::Setting& setting : kernel.presets.front().settings) {
    if (kernel.find_param(setting.param)->asked) params[setting.param] = setting.value;
  }
  return params;
}

// A scope that knows the device's values and none of the problem.
class DeviceScope final : public templates::Scope {
 public:
  explicit DeviceScope(const DeviceInfo& device) : device_(device) {}
  Result<std::int64_t> value(const templates::Reference& reference) const override {
    if (reference.kind == templates::Reference::Kind::device) {
      if (const auto fact = device::device_fact(device_, reference.name)) return *fact;
    }
    return failure(ErrorCode::not_found, "{} is not known of a device alone", reference.text());
  }

 private:
  const DeviceInfo& device_;
};

// Returns whether the preset's condition excludes this device for every problem.
bool for_other_devices(const templates::Preset& preset, const DeviceInfo& device) {
  return preset.when.has_value() &&
         std::ranges::any_of(preset.when->conjuncts(), [&](const templates::Expression& part) {
           return part.evaluate(DeviceScope(device)).value_or(1) == 0;
         });
}

// Returns whether a preset that fits no problem with the defaults of the params that it leaves out may be as intended:
// it is stated by a file that several templates use, or its condition is about a param that it leaves out.
bool for_other_requests(const templates::Template& kernel, const templates::Preset& preset) {
  if (preset.at.file != 0) return true;
  if (!preset.when.has_value()) return false;
  return std::ranges::any_of(preset.when->references(), [&](const templates::Reference& reference) {
    return kernel.find_param(reference.name) != nullptr &&
           std::ranges::none_of(preset.settings, [&](const auto& setting) { return setting.param == reference.name; });
  });
}

constexpr std::size_t kMostChoices = 128;  // of types together, of which all are taken

using Types = std::vector<const templates::Type*>;

std::vector<Request> with_every_types(const Types& types, const Request& request) {
  std::vector<Request> requests = {request};
  for (const templates::Type* type : types) {
    std::vector<Request> chosen;
    for (const Request& other : requests) {
      for (const DType choice : type->choices) {
        chosen.push_back(other);
        chosen.back().types[type->name] = choice;
      }
    }
    requests = std::move(chosen);
  }
  return requests;
}

// The first choices of all types, those that differ from them in one type, and each choice for all types that have it.
std::vector<Request> with_few_types(const Types& types, Request first) {
  for (const templates::Type* type : types) first.types[type->name] = type->choices.front();
  std::vector<Request> requests = {first};
  std::set<DType> all;
  for (const templates::Type* type : types) {
    for (const DType choice : type->choices | std::views::drop(1)) {
      requests.push_back(first);
      requests.back().types[type->name] = choice;
      all.insert(choice);
    }
  }
  for (const DType choice : all) {
    requests.push_back(first);
    for (const templates::Type* type : types) {
      if (std::ranges::count(type->choices, choice) > 0) requests.back().types[type->name] = choice;
    }
  }
  return requests;
}

}  // namespace

std::string placeholder(const templates::Hook& hook) {
  const auto always = std::ranges::find_if(hook.parameters, [](const auto& parameter) { return !parameter.when; });
  return fmt::format("{}({})", hook.result.name, always == hook.parameters.end() ? "0" : always->name);
}

Request completed(const templates::Template& kernel, Request request) {
  for (const templates::Scalar& scalar : kernel.scalars) {
    if (!scalar.default_value.has_value()) request.scalars.try_emplace(scalar.name, std::int64_t{1});
  }
  for (const templates::Hook& hook : kernel.hooks) {
    if (!hook.default_value.has_value()) request.hooks.try_emplace(hook.name, placeholder(hook));
  }
  return request;
}

std::vector<Request> with_types(const templates::Template& kernel, const Request& request) {
  std::vector<const templates::Type*> open;
  std::size_t product = 1;
  for (const templates::Type& type : kernel.types) {
    if (is_free(kernel, type) || request.types.contains(type.name)) continue;
    open.push_back(&type);
    product = std::min(product * type.choices.size(), kMostChoices + 1);
  }
  return product > kMostChoices ? with_few_types(open, request) : with_every_types(open, request);
}

std::vector<PresetConfig> preset_configs(const templates::Template& kernel, const DeviceInfo& device) {
  std::vector<PresetConfig> configs;
  const auto add = [&](PresetConfig config) {
    const bool there =
        std::ranges::any_of(configs, [&](const PresetConfig& other) { return other.params == config.params; });
    if (!there) configs.push_back(std::move(config));
  };
  for (const templates::Preset& preset : kernel.presets) {
    if (for_other_devices(preset, device)) continue;
    PresetConfig config{.named = {},
                        .params = defaults_of(kernel),
                        .when = preset.when.has_value() ? &*preset.when : nullptr,
                        .elsewhere = for_other_requests(kernel, preset)};
    for (const templates::Preset::Setting& setting : preset.settings) {
      config.named[setting.param] = config.params[setting.param] = setting.value;
    }
    add(std::move(config));
  }
  add({.named = {}, .params = defaults_of(kernel)});
  return configs;
}

bool open_dim(const templates::Template& kernel, const templates::Dim& dim, const Request& request,
              const DeviceInfo& device) {
  if (dim.value.has_value() || !dim.when.has_value()) return !dim.value.has_value();
  Request whole = request;
  for (const templates::Dim& other : kernel.dims) whole.dims.try_emplace(other.name, other.min);
  const auto binding = bind(kernel, whole, device);
  if (!binding) return true;
  std::vector<std::int64_t> params;
  for (const templates::Param& param : kernel.params) {
    const auto pin = request.params.find(param.name);
    params.push_back(pin != request.params.end() ? pin->second : param.default_value);
  }
  Values values(*binding);
  values.set_params(params);
  return dim.when->evaluate(values).value_or(0) != 0;
}

bool never_valid(const templates::Template& kernel, Request request, const DeviceInfo& device,
                 const templates::Expression* when) {
  for (const templates::Dim& dim : kernel.dims) request.dims.try_emplace(dim.name, dim.min);
  const auto binding = bind(kernel, request, device);
  if (!binding) return false;
  Search search(*binding);
  const auto violated = [&](const templates::Expression& condition) {
    return std::ranges::any_of(condition.conjuncts(), [&](const templates::Expression& part) {
      return !templates::depends_on_problem(kernel, part) && part.evaluate(search.values()).value_or(0) == 0;
    });
  };
  return std::ranges::any_of(kernel.rules, [&](const auto& rule) { return violated(rule.condition); }) ||
         (when != nullptr && violated(*when));
}

Result<void> check_dims(const std::vector<const templates::Template*>& kernels,
                        const std::map<std::string, std::int64_t>& dims) {
  std::vector<std::string> names;
  for (const templates::Template* kernel : kernels) {
    for (const templates::Dim& dim : kernel->dims) {
      if (std::ranges::find(names, dim.name) == names.end()) names.push_back(dim.name);
    }
  }
  for (const auto& [name, value] : dims) {
    if (std::ranges::find(names, name) != names.end()) continue;
    return unknown_name(
        fault(*kernels.front(), ErrorCode::not_found, "there is no dim \"{}\"; it has {}", name, joined(names)), name,
        names);
  }
  return {};
}

}  // namespace tma_jit::plan
