// The requests that `check` and pre-warming build: every preset and the defaults, for every choice of types.
#include <algorithm>
#include <set>

#include "base/failure.h"
#include "base/text.h"
#include "plan/fault.h"
#include "plan/planner.h"
#include "template/device_fact.h"

namespace tma_jit::planning {
namespace {

constexpr std::int64_t kUsualExtent = 1024;

std::map<std::string, std::int64_t> defaults_of(const manifest::Template& kernel) {
  std::map<std::string, std::int64_t> params;
  for (const manifest::Param& param : kernel.params) params[param.name] = param.standard;
  return params;
}

std::map<std::string, std::int64_t> params_of(const manifest::Template& kernel, const manifest::Preset& preset) {
  std::map<std::string, std::int64_t> params = defaults_of(kernel);
  for (const manifest::Preset::Setting& setting : preset.settings) params[setting.param] = setting.value;
  return params;
}

// A text that compiles for a hook without a default: the first parameter, converted.
std::string filler(const manifest::Hook& hook) {
  const auto always = std::ranges::find_if(hook.parameters, [](const auto& parameter) { return !parameter.when; });
  return fmt::format("{}({})", hook.result.name, always == hook.parameters.end() ? "0" : always->name);
}

Request bare_request(const manifest::Template& kernel, const std::map<std::string, std::int64_t>& dims) {
  Request request;
  request.kernel = kernel.kernel;
  request.file = kernel.stem();
  for (const manifest::Dim& dim : kernel.dims) {
    if (dim.value.has_value()) continue;
    const auto given = dims.find(dim.name);
    request.dims[dim.name] = given != dims.end() ? given->second : std::clamp(kUsualExtent, dim.min, dim.max);
  }
  for (const manifest::Scalar& scalar : kernel.scalars) {
    if (!scalar.standard.has_value()) request.scalars[scalar.name] = std::int64_t{1};
  }
  for (const manifest::Hook& hook : kernel.hooks) {
    if (!hook.standard.has_value()) request.hooks[hook.name] = filler(hook);
  }
  return request;
}

// The product of the choices of all types that tensors have; the planner chooses the others.
std::vector<Request> with_types(const manifest::Template& kernel, const Request& bare) {
  std::vector<Request> requests = {bare};
  for (const manifest::Type& type : kernel.types) {
    if (is_free(kernel, type)) continue;
    std::vector<Request> chosen;
    for (const Request& request : requests) {
      for (const DType choice : type.choices) {
        chosen.push_back(request);
        chosen.back().types[type.name] = choice;
      }
    }
    requests = std::move(chosen);
  }
  return requests;
}

// Knows the device and nothing of the problem.
class DeviceScope final : public manifest::Scope {
 public:
  explicit DeviceScope(const DeviceInfo& device) : device_(device) {}
  Result<std::int64_t> value(const manifest::Reference& reference) const override {
    if (reference.kind == manifest::Reference::Kind::device) {
      if (const auto fact = manifest::device_fact(device_, reference.name)) return *fact;
    }
    return failure(ErrorCode::not_found, "{} is not known of a device alone", reference.text());
  }

 private:
  const DeviceInfo& device_;
};

// Whether the preset's condition excludes this device whatever the problem is.
bool for_other_devices(const manifest::Preset& preset, const DeviceInfo& device) {
  return preset.when.has_value() && preset.when->evaluate(DeviceScope(device)).value_or(1) == 0;
}

// The presets that fit these types, each once, and the defaults, less those for other devices. A preset that fits no
// types at all is kept for the first of them, so that planning it tells what is wrong.
void add_requests(const manifest::Template& kernel, const std::vector<Request>& typed, const DeviceInfo& device,
                  std::vector<Request>& requests) {
  std::vector<std::map<std::string, std::int64_t>> configs;
  for (const manifest::Preset& preset : kernel.presets) {
    if (!for_other_devices(preset, device)) configs.push_back(params_of(kernel, preset));
  }
  configs.push_back(defaults_of(kernel));
  std::set<std::map<std::string, std::int64_t>> seen;
  for (const auto& config : configs) {
    if (!seen.insert(config).second) continue;
    const std::size_t before = requests.size();
    for (Request request : typed) {
      request.params = config;
      if (plan_with(kernel, request, device, Reasons::unsaid).has_value()) requests.push_back(std::move(request));
    }
    if (requests.size() > before) continue;
    requests.push_back(typed.front());
    requests.back().params = config;
  }
}

Result<void> check_dims(const std::vector<const manifest::Template*>& kernels,
                        const std::map<std::string, std::int64_t>& dims) {
  std::vector<std::string> names;
  for (const manifest::Template* kernel : kernels) {
    for (const manifest::Dim& dim : kernel->dims) {
      if (std::ranges::find(names, dim.name) == names.end()) names.push_back(dim.name);
    }
  }
  for (const auto& [name, value] : dims) {
    if (std::ranges::find(names, name) != names.end()) continue;
    return fault(*kernels.front(), ErrorCode::not_found, "there is no dim \"{}\"; it has {}{}", name, joined(names),
                 suggestion(name, names));
  }
  return {};
}

}  // namespace

Result<std::vector<Request>> preset_requests(const DeviceInfo& device, TemplatePointers templates,
                                             const std::map<std::string, std::int64_t>& dims) {
  TMA_JIT_ASSIGN(const std::vector<const manifest::Template*> kernels, candidates({}, device, templates));
  TMA_JIT_CHECK(check_dims(kernels, dims));
  std::vector<Request> requests;
  for (const manifest::Template* kernel : kernels) {
    add_requests(*kernel, with_types(*kernel, bare_request(*kernel, dims)), device, requests);
  }
  return requests;
}

}  // namespace tma_jit::planning
