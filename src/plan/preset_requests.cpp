// The requests that pre-warming builds: every preset and the defaults, for every choice of types.
#include <algorithm>

#include "core/failure.h"
#include "plan/preset_configs.h"

namespace tma_jit::plan {
namespace {

constexpr std::int64_t kUsualExtent = 1024;

Request bare_request(const templates::Template& kernel, const std::map<std::string, std::int64_t>& dims) {
  Request request;
  request.kernel = kernel.kernel;
  request.file = kernel.stem();
  for (const templates::Dim& dim : kernel.dims) {
    if (dim.value.has_value()) continue;
    const auto given = dims.find(dim.name);
    request.dims[dim.name] = given != dims.end() ? given->second : std::clamp(kUsualExtent, dim.min, dim.max);
  }
  return completed(kernel, std::move(request));
}

// Adds the presets that are valid for these types. A preset that is valid for no types is added for the first of them,
// so that planning it reports the reason.
void add_requests(const templates::Template& kernel, const std::vector<Request>& typed, const DeviceInfo& device,
                  std::vector<Request>& requests) {
  for (const PresetConfig& config : preset_configs(kernel, device)) {
    const std::size_t before = requests.size();
    for (Request request : typed) {
      request.params = config.params;
      if (plan_with(kernel, request, device, Reasons::unsaid).has_value()) requests.push_back(std::move(request));
    }
    if (requests.size() > before) continue;
    requests.push_back(typed.front());
    requests.back().params = config.params;
  }
}

}  // namespace

Result<std::vector<Request>> preset_requests(const DeviceInfo& device, TemplatePointers templates,
                                             const std::map<std::string, std::int64_t>& dims) {
  TMA_JIT_ASSIGN(const std::vector<const templates::Template*> kernels, candidates({}, device, templates));
  TMA_JIT_CHECK(check_dims(kernels, dims));
  std::vector<Request> requests;
  for (const templates::Template* kernel : kernels) {
    add_requests(*kernel, with_types(*kernel, bare_request(*kernel, dims)), device, requests);
  }
  return requests;
}

}  // namespace tma_jit::plan
