// The requests that pre-warming builds: every preset and the defaults, for every choice of types.
#include <algorithm>

#include "core/failure.h"
#include "plan/preset_configs.h"

namespace tma_jit::plan {
namespace {

constexpr std::int64_t kUsualExtent = 1024;

Request bare_request(const templates::Template& kernel, const std::map<std::string, std::int64_t>& dims,
                     std::int64_t extent) {
  Request request;
  request.kernel = kernel.kernel;
  request.file = kernel.stem();
  for (const templates::Dim& dim : kernel.dims) {
    if (dim.value.has_value()) continue;
    const auto given = dims.find(dim.name);
    request.dims[dim.name] = given != dims.end() ? given->second : std::clamp(extent, dim.min, dim.max);
  }
  return completed(kernel, std::move(request));
}

// Adds the request for each choice of types that is valid with these params.
void add_valid(const templates::Template& kernel, const std::vector<Request>& typed, const PresetConfig& config,
               const DeviceInfo& device, std::vector<Request>& requests) {
  for (Request request : typed) {
    request.params = config.params;
    if (never_valid(kernel, request, device, config.when)) continue;
    if (plan_with(kernel, request, device, Reasons::unsaid).has_value()) requests.push_back(std::move(request));
  }
}

// Adds the presets that are valid for these dims; where one needs smaller extents than the usual, for half of them, a
// quarter and so on. A preset that is valid for none is added as it is, so that planning it reports the reason.
void add_requests(const templates::Template& kernel, const std::map<std::string, std::int64_t>& dims,
                  const DeviceInfo& device, std::vector<Request>& requests) {
  const std::vector<Request> usual = with_types(kernel, bare_request(kernel, dims, kUsualExtent));
  for (const PresetConfig& config : preset_configs(kernel, device)) {
    const std::size_t before = requests.size();
    add_valid(kernel, usual, config, device, requests);
    for (std::int64_t extent = kUsualExtent / 2; extent > 0 && requests.size() == before; extent /= 2)
      add_valid(kernel, with_types(kernel, bare_request(kernel, dims, extent)), config, device, requests);
    if (requests.size() > before) continue;
    requests.push_back(usual.front());
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
    add_requests(*kernel, dims, device, requests);
  }
  return requests;
}

}  // namespace tma_jit::plan
