// The requests that pre-warming builds: every preset and the defaults, for every choice of types.
#include <algorithm>
#include <vector>

#include "core/failure.h"
#include "plan/preset_configs.h"

namespace tma_jit::plan {
namespace {

constexpr std::int64_t kUsualExtent = 1024, kLargestExtent = std::int64_t{1} << 20;

// Returns the usual extent, its halves and then its doubles, in the order in which they are tried.
std::vector<std::int64_t> extents_to_try() {
  std::vector<std::int64_t> extents;
  for (std::int64_t extent = kUsualExtent; extent > 0; extent /= 2) extents.push_back(extent);
  for (std::int64_t extent = 2 * kUsualExtent; extent <= kLargestExtent; extent *= 2) extents.push_back(extent);
  return extents;
}

// Returns the dims given, and the others of the request's configuration as near to `extent` as they may be.
std::map<std::string, std::int64_t> dims_of(const templates::Template& kernel, const Request& request,
                                            const DeviceInfo& device, const std::map<std::string, std::int64_t>& given,
                                            std::int64_t extent) {
  std::map<std::string, std::int64_t> dims;
  for (const templates::Dim& dim : kernel.dims) {
    if (!open_dim(kernel, dim, request, device)) continue;
    const auto own = given.find(dim.name);
    dims[dim.name] = own != given.end() ? own->second : std::clamp(extent, dim.min, dim.max);
  }
  return dims;
}

// Adds the presets that are valid for these dims; where one needs other extents than the usual, for the first of those
// to try for which it is valid. A preset that is valid for none is added as it is, so that planning it reports the
// reason.
void add_requests(const templates::Template& kernel, const std::map<std::string, std::int64_t>& dims,
                  const DeviceInfo& device, std::vector<Request>& requests) {
  Request bare;
  bare.kernel = kernel.kernel;
  bare.file = kernel.stem();
  const std::vector<Request> typed = with_types(kernel, completed(kernel, std::move(bare)));
  for (const PresetConfig& config : preset_configs(kernel, device)) {
    std::vector<Request> possible = typed;
    for (Request& request : possible) request.params = config.params;
    std::erase_if(possible, [&](const Request& one) { return never_valid(kernel, one, device, config.when); });
    const std::size_t before = requests.size();
    for (const std::int64_t extent : extents_to_try()) {
      if (requests.size() > before) break;
      for (Request& request : possible) {
        request.dims = dims_of(kernel, request, device, dims, extent);
        if (plan_with(kernel, request, device, Reasons::unsaid).has_value()) requests.push_back(request);
      }
    }
    if (requests.size() > before) continue;
    requests.push_back(typed.front());
    requests.back().params = config.params;
    requests.back().dims = dims_of(kernel, requests.back(), device, dims, kUsualExtent);
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
